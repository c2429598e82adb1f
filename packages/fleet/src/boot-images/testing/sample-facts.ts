// Facts for tests of decisions: MachineSet `workers` on Google Cloud, opted in, with an image of the release before.
import { bootImageAnnotation } from '@slipway/api';
import type { JsonObject } from '../json.ts';
import { type BootImageConfig, parseBootImageConfig, type GoldenReading } from '../boot-image-config.ts';
import type { Change, Decision } from '../decide.ts';
import type { ClusterFacts, MachineManager, MachineReading, ResourceFacts } from '../facts.ts';
import { gcp } from '../platforms/gcp.ts';
import { platformDef } from '../platforms/index.ts';
import { vsphere } from '../platforms/vsphere.ts';
import type { ImageRule, MachineResource } from '../verdict.ts';

export const NOW = Date.parse('2026-03-01T12:00:00Z');
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

export const OLD = '9.6.20251023-0';
export const NEW = '9.8.20260428-0';
/** Of stream rhel-10. */
export const NEXT_MAJOR = '10.2.20260428-0';

export const gcpImage = (version: string): string =>
  `projects/rhcos-cloud/global/images/rhcos-${version.replaceAll('.', '-')}-gcp-x86-64`;

const metadata = (version: string): JsonObject => ({
  stream: 'a label that nobody keeps current',
  architectures: {
    x86_64: {
      images: { gcp: { project: 'rhcos-cloud', name: gcpImage(version).split('/').at(-1) ?? '', release: version } },
      artifacts: {
        vmware: {
          release: version,
          formats: {
            ova: { disk: { location: `https://images.example.com/${version}.ova`, sha256: 'ab'.repeat(32) } },
          },
        },
      },
    },
  },
});

function parseSampleConfig(version: string, releaseVersion = '4.22.0'): BootImageConfig {
  const data = {
    stream: JSON.stringify(metadata(version)),
    streams: JSON.stringify({ 'rhel-9': metadata(version), 'rhel-10': metadata(NEXT_MAJOR) }),
    releaseVersion,
  };
  const read = parseBootImageConfig({ data });
  if (!read.ok) throw new Error(read.message);
  return read.config;
}

export const sampleGolden = (version: string, generation = 1): GoldenReading => ({
  type: 'valid',
  golden: { config: parseSampleConfig(version), generation, stamp: { type: 'stamped' } },
});

export const machineSet: MachineResource = {
  api: 'machine.openshift.io',
  kind: 'MachineSet',
  namespace: 'openshift-machine-api',
  name: 'workers',
};
export const clusterApiSet: MachineResource = {
  ...machineSet,
  api: 'cluster.x-k8s.io',
  namespace: 'openshift-cluster-api',
};
export const machineDeployment: MachineResource = { ...clusterApiSet, kind: 'MachineDeployment' };

const managerFor = (resource: MachineManager['resource'], apiGroup: MachineManager['apiGroup']): MachineManager => ({
  resource,
  apiGroup,
  selection: { mode: 'All' },
});
export const everything: readonly MachineManager[] = [
  managerFor('machinesets', 'machine.openshift.io'),
  managerFor('machinesets', 'cluster.x-k8s.io'),
  managerFor('machinedeployments', 'cluster.x-k8s.io'),
];

export const gcpSpec = (image: string): JsonObject => ({
  apiVersion: 'machine.openshift.io/v1beta1',
  kind: 'GCPMachineProviderSpec',
  disks: [
    { boot: true, image, sizeGb: 128 },
    { boot: false, image: 'projects/customer/global/images/data' },
  ],
});

const read = (platform: 'gcp' | 'vsphere', spec: JsonObject, rule: ImageRule): MachineReading => ({
  ok: true,
  platform,
  architecture: { ok: true, architecture: 'x86_64' },
  spec,
  rule,
  imagePaths: platformDef(platform).providerSpec.imagePaths,
});
export const onGcp = (image: string): MachineReading => read('gcp', gcpSpec(image), gcp.machineApi);
/** A platform where the user must import the image first. */
export const onVsphere: MachineReading = read('vsphere', { template: 'cluster-x-rhcos-zone' }, vsphere.machineApi);

export const sampleStub = {
  ok: true,
  current: 'worker-user-data',
  wanted: 'worker-user-data-managed',
  note: '',
  needsNewImage: false,
} as const;

export const sampleResource = (given: Partial<ResourceFacts> = {}): ResourceFacts => ({
  resource: machineSet,
  labels: {},
  annotations: {},
  owners: [],
  machineLabels: {},
  authoritativeApi: null,
  isPaused: false,
  machine: onGcp(gcpImage(OLD)),
  stub: sampleStub,
  ...given,
});

export const sampleCluster = (given: Partial<ClusterFacts> = {}): ClusterFacts => ({
  optIn: { uid: 'u-1', generation: 1, managers: everything },
  golden: sampleGolden(NEW),
  workerStream: null,
  infrastructureName: 'cluster-x',
  azureCloud: '',
  knownImages: new Set(),
  now: NOW,
  ...given,
});

/** As the resource is after the change was written. */
export function carriedOut(facts: ResourceFacts, { change }: Pick<Decision, 'change'>): ResourceFacts {
  return change === null ? facts : { ...withChange(facts, change), annotations: remembered(facts, change) };
}

const remembered = ({ annotations }: ResourceFacts, { memory }: Change): ResourceFacts['annotations'] => ({
  ...annotations,
  [bootImageAnnotation]: memory,
});

function withChange(facts: ResourceFacts, { spec, userData }: Change): ResourceFacts {
  const { machine, stub } = facts;
  return {
    ...facts,
    machine: machine.ok && spec !== null ? { ...machine, spec } : machine,
    stub: stub.ok && userData !== null ? { ...stub, current: userData, needsNewImage: false } : stub,
  };
}

/** Another client reverts the image and the user data, but not our annotation. */
export const changedBack = (now: ResourceFacts, before: ResourceFacts): ResourceFacts => ({
  ...before,
  annotations: now.annotations,
});
