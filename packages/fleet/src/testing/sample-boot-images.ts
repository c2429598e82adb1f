// Boot images for tests.
import { type BootImageHistory, bootImagesOfHistoryAnnotation } from '@slipway/api';
import type { ClusterFacts } from '../boot-images/facts.ts';
import type { MachineResource } from '../boot-images/verdict.ts';
import { type BootImageEntry, bootImagesReport, type BootImagesReport } from '../reports/bootimages-report.ts';

export const workerA: MachineResource = {
  api: 'machine.openshift.io',
  kind: 'MachineSet',
  namespace: 'openshift-machine-api',
  name: 'worker-a',
};

export const sampleBootImage = (version: string): string =>
  `projects/rhcos-cloud/global/images/rhcos-${version}-gcp-x86-64`;

export const entry = (more: Partial<BootImageEntry> = {}): BootImageEntry => ({
  resource: workerA,
  platform: 'gcp',
  architecture: 'x86_64',
  verdict: 'current',
  image: sampleBootImage('2'),
  target: sampleBootImage('2'),
  stub: { current: 'worker-user-data-managed', wanted: 'worker-user-data-managed' },
  why: '',
  code: null,
  isUnknown: false,
  toImport: null,
  ...more,
});

const optIn: ClusterFacts['optIn'] = {
  uid: 'u',
  generation: 1,
  managers: [{ resource: 'machinesets', apiGroup: 'machine.openshift.io', selection: { mode: 'All' } }],
};

export const clusterFacts = (more: Partial<ClusterFacts> = {}): ClusterFacts => ({
  optIn,
  golden: {
    type: 'valid',
    golden: {
      config: {
        streams: new Map(),
        defaultStream: null,
        defaultName: '',
        releaseVersion: '4.22.0',
        stamp: { version: '', releaseVersion: '' },
      },
      generation: 3,
      stamp: { type: 'stamped' },
    },
  },
  workerStream: null,
  infrastructureName: 'demo',
  azureCloud: '',
  knownImages: new Set(),
  now: 0,
  ...more,
});

export const report = (entries: readonly BootImageEntry[], more: Partial<ClusterFacts> = {}): BootImagesReport =>
  bootImagesReport({ isOn: true, because: 'a test says so' }, clusterFacts(more), entries);

const disk = (version: string) => [{ op: 'replace', path: '/disks/0/image', value: sampleBootImage(version) }];

/** Two changes, the first from an image of the installer. */
export const sampleHistory: BootImageHistory = {
  metadata: {
    namespace: workerA.namespace,
    name: 'worker-a-mapi-machineset',
    annotations: {
      [bootImagesOfHistoryAnnotation]: JSON.stringify([
        { version: '', image: sampleBootImage('0'), at: '2025-11-04T10:00:12.123Z', set: disk('0') },
        { version: '9.6.1-0', image: sampleBootImage('1'), at: '2025-11-04T10:00:12.123Z', set: disk('1') },
      ]),
    },
  },
  spec: {
    machineResourceReference: { name: 'worker-a', resource: 'MachineSet', apiGroup: 'machine.openshift.io' },
  },
  status: {
    details: [
      { updateTime: '2025-11-04T10:00:12Z', bootImageVersion: '9.6.1-0', configMapGeneration: 2 },
      { updateTime: '2026-05-02T08:11:40Z', bootImageVersion: '9.8.2-0', configMapGeneration: 3 },
    ],
  },
};
