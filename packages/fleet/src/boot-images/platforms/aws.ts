import { fieldAt, isJsonObject, type JsonObject, objectAt, shown, textAt } from '../json.ts';
import { badSpec, badTemplate, type ImageQuestion, type ImageVerdict } from '../verdict.ts';
import { type PlatformDef, type TemplatePlace, judgeRegionImage, imageFields } from './platform.ts';

export const aws = {
  type: 'aws',
  providerSpec: {
    kind: 'AWSMachineProviderConfig',
    imagePaths: imageFields('ami'),
    apiVersions: ['awsproviderconfig.openshift.io/v1beta1', 'machine.openshift.io/v1beta1'],
  },
  machineApi: judgeProviderSpec,
  clusterApi: { kind: 'AWSMachineTemplate', imagePaths: imageFields('ami'), rules: { v1beta2: judgeTemplate } },
  imageIds: 'aws',
  regionIn: ({ aws }) => aws?.region,
} as const satisfies PlatformDef;

/** An AMI of the region. `id`, `arn` and `filters` are mutually exclusive: we set only `id`. */
function judgeProviderSpec(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const region = textAt(spec, 'placement', 'region');
  if (region === '')
    return badSpec('placement.region', 'the region of the machines', fieldAt(spec, 'placement', 'region'));
  const text = imageText(objectAt(spec, 'ami'));
  if (text === '') return badSpec('ami', 'id, arn or filters', fieldAt(spec, 'ami'));
  const current = textAt(spec, 'ami', 'id');
  const change = (id: string): JsonObject => ({ ...spec, ami: { id } });
  return judgeRegionImage({ cloud: 'aws', region, current, text, change }, question);
}

/** If a region had no image, the installer copied one and wrote filters with its name. */
function imageText(ami: JsonObject): string {
  const id = textAt(ami, 'id') || textAt(ami, 'arn');
  if (id !== '') return id;
  const filters = fieldAt(ami, 'filters');
  if (!Array.isArray(filters) || filters.length === 0) return '';
  return `filters ${filters.map((filter) => (isJsonObject(filter) ? filterText(filter) : '')).join(', ')}`;
}

const filterText = (filter: JsonObject): string => `${textAt(filter, 'name')}=${shown(fieldAt(filter, 'values'))}`;

/** Other ways to select an image in a template: all by the account of a user, or of Amazon's Kubernetes. */
const lookups = ['imageLookupFormat', 'imageLookupOrg', 'imageLookupBaseOS'] as const;

/** An AMI. The region comes from the cluster, because a template has none. */
function judgeTemplate(spec: JsonObject, question: ImageQuestion, place: TemplatePlace): ImageVerdict {
  const region = place.region || regionOfZone(place.failureDomain);
  const current = textAt(spec, 'ami', 'id');
  const text = current || lookupText(spec);
  if (fieldAt(spec, 'ami', 'id') !== undefined && current === '')
    return badTemplate('ami.id', 'the id of an image', fieldAt(spec, 'ami', 'id'));
  if (region === '') {
    const message = `expected the region of the cluster, found none in status.platformStatus.aws.region of Infrastructure cluster or in failureDomain of the machines. Set it there, or opt the machines out of boot image updates`;
    return { type: 'failed', image: text, code: 'SLW_BOOT_IMAGES_REGION', message };
  }
  // eksLookupType excludes id, and id takes precedence over the lookup fields.
  const change = (id: string): JsonObject => ({ ...spec, ami: { id } });
  return judgeRegionImage({ cloud: 'aws', region, current, text, change }, question);
}

function lookupText(spec: JsonObject): string {
  const eks = textAt(spec, 'ami', 'eksLookupType');
  if (eks !== '') return `ami.eksLookupType ${eks}`;
  const given = lookups.filter((name) => textAt(spec, name) !== '').map((name) => `${name} ${textAt(spec, name)}`);
  return given.length === 0 ? 'the default of the provider' : given.join(', ');
}

/** For example us-east-1 from the zone us-east-1a; '' if it is not a zone. */
export const regionOfZone = (zone: string): string => /^([a-z]{2}(?:-[a-z]+)+-\d+)[a-z]$/.exec(zone)?.[1] ?? '';
