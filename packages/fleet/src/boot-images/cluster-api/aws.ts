import { fieldAt, textAt } from '../json-path.ts';
import { verdictOfRegion } from '../platforms/region-image.ts';
import type { JsonObject } from '../verdict.ts';
import { badTemplate, type TemplateRule } from './template-rule.ts';

/** How else a template may say which image: all by somebody's own account, or that of Amazon's Kubernetes. */
const lookups = ['imageLookupFormat', 'imageLookupOrg', 'imageLookupBaseOS'] as const;

/** An AMI. The region is that of the cluster: a template has none. */
export const clusterApi: TemplateRule = (spec, question, { region }) => {
  const current = textAt(spec, 'ami', 'id');
  const text = current || lookupText(spec);
  if (fieldAt(spec, 'ami', 'id') !== undefined && current === '')
    return badTemplate('ami.id', 'the id of an image', fieldAt(spec, 'ami', 'id'));
  if (region === '') {
    const message = `expected the region of the cluster, found none in Infrastructure cluster (status.platformStatus.aws.region) nor in failureDomain of the machines. Say it there, or opt the machines out of boot image updates`;
    return { type: 'failed', image: text, code: 'SLW_BOOT_IMAGES_REGION', message };
  }
  // eksLookupType excludes id, and what is looked up does not count beside it.
  const change = (id: string): JsonObject => ({ ...spec, ami: { id } });
  return verdictOfRegion({ cloud: 'aws', region, current, text, change }, question);
};

function lookupText(spec: JsonObject): string {
  const eks = textAt(spec, 'ami', 'eksLookupType');
  if (eks !== '') return `ami.eksLookupType ${eks}`;
  const given = lookups.filter((name) => textAt(spec, name) !== '').map((name) => `${name} ${textAt(spec, name)}`);
  return given.length === 0 ? 'the default of the provider' : given.join(', ');
}

/** Such as us-east-1 of the zone us-east-1a; '' where it is no zone. */
export const regionOfZone = (zone: string): string => /^([a-z]{2}(?:-[a-z]+)+-\d+)[a-z]$/.exec(zone)?.[1] ?? '';
