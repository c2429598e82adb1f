import { describe, expect, it } from 'vitest';
import { type PoolProgress, type ReleaseFacts, waitsFor } from './release-progress.ts';

const [OLD, NEW] = ['quay.io/os@sha256:1', 'quay.io/os@sha256:2'];

const pool = (name: string, given: Partial<PoolProgress> = {}): PoolProgress => ({
  name,
  machineCount: 3,
  updatedMachineCount: 3,
  isObserved: true,
  config: `rendered-${name}-2`,
  os: { type: 'managed', wanted: NEW, rendered: NEW },
  ...given,
});
const clusterVersion = (says: string) => ({ what: 'status.desired.version of ClusterVersion version', says });
const osImages = (says: string) => ({ what: 'releaseVersion of ConfigMap machine-config-osimageurl', says });

/** Arrived, but for what is given. */
const facts = (given: Partial<ReleaseFacts> = {}): ReleaseFacts => ({
  releaseVersion: '4.23.0',
  sources: [clusterVersion('4.23.0'), osImages('4.23.0')],
  streams: { madeFrom: 'quay.io/release@sha256:2', wanted: 'quay.io/release@sha256:2' },
  master: pool('master', { updatedMachineCount: 1 }),
  worker: pool('worker', { updatedMachineCount: 0 }),
  ...given,
});

/** Right after a new release was announced: all machines are updated, to what was there before. */
const onOldRelease: Partial<ReleaseFacts> = {
  master: pool('master', { config: 'rendered-master-1', os: { type: 'managed', wanted: NEW, rendered: OLD } }),
};

describe('the boot images of a release wait for', () => {
  it.each<[string, Partial<ReleaseFacts>, RegExp]>([
    ['nothing, when the first master runs it', {}, /^nothing$/],
    [
      'the ClusterVersion to go there',
      { sources: [clusterVersion('4.22.0'), osImages('4.23.0')] },
      /^status\.desired\.version of ClusterVersion version to be 4\.23\.0: it is 4\.22\.0$/,
    ],
    [
      'the ConfigMap with the OS images to be of it',
      { sources: [clusterVersion('4.23.0'), osImages('4.22.0')] },
      /^releaseVersion of ConfigMap machine-config-osimageurl to be 4\.23\.0: it is 4\.22\.0$/,
    ],
    ['nothing that says no release', { sources: [] }, /^nothing$/],
    [
      'no release where they say none themselves',
      { releaseVersion: '', sources: [clusterVersion('4.22.0')] },
      /^nothing$/,
    ],
    [
      'the OS image streams of it',
      { streams: { madeFrom: 'quay.io/release@sha256:1', wanted: 'quay.io/release@sha256:2' } },
      /^OSImageStream cluster to be made from quay\.io\/release@sha256:2: it is from quay\.io\/release@sha256:1$/,
    ],
    ['no streams where there are none', { streams: null }, /^nothing$/],
    [
      'a master pool that is updated, but to the OS of before',
      onOldRelease,
      /^MachineConfigPool master to be rendered with the OS image quay\.io\/os@sha256:2: rendered-master-1 has quay\.io\/os@sha256:1$/,
    ],
    [
      'a rendered config that is gone',
      { master: pool('master', { os: { type: 'managed', wanted: NEW, rendered: null } }) },
      /: rendered-master-2 is not there$/,
    ],
    [
      'a rendered config to get an OS image',
      { master: pool('master', { os: { type: 'managed', wanted: NEW, rendered: '' } }) },
      /: rendered-master-2 has none$/,
    ],
    [
      'a pool to get a stream',
      { master: pool('master', { os: { type: 'undecided' } }) },
      /^MachineConfigPool master to be on an OS image stream$/,
    ],
    ['no image where nobody manages one', { master: pool('master', { os: { type: 'unmanaged' } }) }, /^nothing$/],
    [
      'a pool to be rendered',
      { master: pool('master', { config: null }) },
      /^MachineConfigPool master to be rendered$/,
    ],
    [
      'counts that are of the pool as it is',
      { master: pool('master', { isObserved: false, machineCount: 0 }) },
      /^the status of MachineConfigPool master/,
    ],
    [
      'the first master',
      { master: pool('master', { updatedMachineCount: 0 }), worker: pool('worker') },
      /^the first machine of MachineConfigPool master to be updated to rendered-master-2$/,
    ],
    [
      'all workers, where there are no masters',
      { master: pool('master', { machineCount: 0 }), worker: pool('worker', { updatedMachineCount: 2 }) },
      /^all machines of MachineConfigPool worker to be updated to rendered-worker-2$/,
    ],
    [
      'the OS of the workers, where there are no masters',
      { master: null, worker: pool('worker', { os: { type: 'managed', wanted: NEW, rendered: OLD } }) },
      /^MachineConfigPool worker to be rendered with/,
    ],
    [
      'nothing, where there are no masters and all workers have it',
      { master: null, worker: pool('worker') },
      /^nothing$/,
    ],
    [
      'nothing, where there are no machines',
      { master: null, worker: pool('worker', { machineCount: 0, updatedMachineCount: 0, config: null }) },
      /^nothing$/,
    ],
    ['nothing, where there are no pools', { master: null, worker: null }, /^nothing$/],
  ])('%s', (_, given, expected) => {
    expect(waitsFor(facts(given)) ?? 'nothing').toMatch(expected);
  });
});
