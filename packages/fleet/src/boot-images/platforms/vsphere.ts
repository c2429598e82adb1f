import { fieldAt, isJsonObject, type JsonObject, textAt } from '../json.ts';
import {
  type Artifact,
  badSpec,
  badTemplate,
  type ImageQuestion,
  type ImageVerdict,
  type MachineResource,
} from '../verdict.ts';
import {
  readArtifact,
  download,
  importedImage,
  isNamedByInstaller,
  nameWithVersion,
  useImage,
  word,
} from './import.ts';
import { type PlatformDef, judgeView, imageFields } from './platform.ts';

const TEMPLATE_KIND = 'VSphereMachineTemplate';

export const vsphere = {
  type: 'vsphere',
  providerSpec: {
    kind: 'VSphereMachineProviderSpec',
    imagePaths: imageFields('template'),
    apiVersions: ['vsphereprovider.openshift.io/v1beta1', 'machine.openshift.io/v1beta1'],
  },
  machineApi: judgeProviderSpec,
  clusterApi: {
    kind: TEMPLATE_KIND,
    imagePaths: imageFields('template'),
    rules: { v1beta1: judgeTemplate, v1beta2: judgeTemplate },
  },
} as const satisfies PlatformDef;

const MAX_NAME_LENGTH = 80;

/** A template of virtual machines, by its name or its path in the inventory. */
function judgeProviderSpec(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const current = textAt(spec, 'template');
  if (current === '') return badSpec('template', 'the name of a template', fieldAt(spec, 'template'));
  const at = current.lastIndexOf('/') + 1;
  const name = current.slice(at);
  return importedImage(
    {
      current,
      isInstallers: isNamedByInstaller(name, question),
      artifact: readArtifact(question.images, 'vmware', 'ova'),
      place: 'artifacts.vmware.formats.ova',
      nameOf: (version) => current.slice(0, at) + nameWithVersion(name, version, MAX_NAME_LENGTH),
      commands: (artifact, to) => buildCommands(spec, artifact, to, question.resource),
    },
    question,
  );
}

function buildCommands(spec: JsonObject, artifact: Artifact, to: string, resource: MachineResource): readonly string[] {
  const { file, commands } = download(artifact);
  const name = to.slice(to.lastIndexOf('/') + 1);
  const network = readNetwork(spec);
  const place = buildPlacementOptions(spec);
  const options = JSON.stringify({ NetworkMapping: [{ Name: 'VM Network', Network: network }] });
  return [
    ...commands,
    `echo ${word(options)} > options.json`,
    `govc import.ova${place.join('')} -options options.json -name ${word(name)} ${word(file)}`,
    `govc vm.markastemplate${place.slice(0, 2).join('')} ${word(name)}`,
    useImage(resource, { template: to }),
  ];
}

/** As options of govc; its environment provides what the spec omits. */
const buildPlacementOptions = (spec: JsonObject): readonly string[] =>
  [
    ['u', 'server'],
    ['dc', 'datacenter'],
    ['ds', 'datastore'],
    ['folder', 'folder'],
    ['pool', 'resourcePool'],
  ].map(([flag = '', field = '']) => option(flag, textAt(spec, 'workspace', field)));

const option = (flag: string, value: string): string => (value === '' ? '' : ` -${flag} ${word(value)}`);

function readNetwork(spec: JsonObject): string {
  const devices = fieldAt(spec, 'network', 'devices');
  const [first] = Array.isArray(devices) ? devices : [];
  return isJsonObject(first) ? textAt(first, 'networkName') : '';
}

/** Templates have the fields that the Machine API has in its workspace. */
const places = ['server', 'datacenter', 'folder', 'datastore', 'resourcePool'] as const;

/** A template of virtual machines, by its name or its path in the inventory. */
function judgeTemplate(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const template = textAt(spec, 'template');
  if (template === '') return badTemplate('template', 'the name of a template', fieldAt(spec, 'template'));
  const workspace = Object.fromEntries(places.map((name) => [name, textAt(spec, name)]));
  const providerSpec = { template, workspace, network: fieldAt(spec, 'network') ?? {} };
  const imported = (name: string) => ({ template: name });
  return judgeView(spec, { kind: TEMPLATE_KIND, rule: judgeProviderSpec, providerSpec, imported }, question);
}
