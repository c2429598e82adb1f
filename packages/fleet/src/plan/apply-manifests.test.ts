import type { MachineConfigPool } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { machineConfig, withFile } from '../testing/sample-plan.ts';
import { applyManifests, replaceManifests } from './apply-manifests.ts';
import type { FleetState } from './fleet-plan.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const pool = (spec: MachineConfigPool['spec'], annotations: Record<string, string> = {}): MachineConfigPool => ({
  metadata: { name: 'worker', annotations },
  spec,
});
const state = (more: Partial<FleetState>): FleetState => ({
  pools: [],
  machineConfigs: [],
  settings: undefined,
  osImages: {},
  streams: null,
  controllerVersion: '1',
  ...more,
});
const none = { machineConfigs: [], pools: [], settings: undefined };
const applied = (live: MachineConfigPool, given: MachineConfigPool) =>
  applyManifests(state({ pools: [live] }), { ...none, pools: [given] });

describe('a pool that is applied', () => {
  it('keeps fields of other writers that are not in the manifest', () => {
    const live = pool({ paused: true, maxUnavailable: 1, configuration: { name: 'rendered-worker-1' } }, { ours: 'x' });
    const { state: after, objects } = applied(live, pool({ maxUnavailable: 2 }, { theirs: 'y' }));
    expect(after.pools).toEqual([
      pool(
        { paused: true, maxUnavailable: 2, configuration: { name: 'rendered-worker-1' } },
        { ours: 'x', theirs: 'y' },
      ),
    ]);
    expect(objects).toEqual([{ kind: 'MachineConfigPool', name: 'worker', change: 'changed' }]);
  });

  it('loses fields that its manifest had when it was last applied, and no longer has', () => {
    const last = JSON.stringify({ spec: { paused: true, nodeSelector: { matchLabels: { a: '' } } } });
    const live = pool({ paused: true, nodeSelector: { matchLabels: { a: '', b: '' } } }, { [LAST_APPLIED]: last });
    const { state: after } = applied(live, pool({ nodeSelector: { matchLabels: { c: '' } } }));
    expect(after.pools[0]?.spec).toEqual({ nodeSelector: { matchLabels: { b: '', c: '' } } });
  });

  it('keeps its identity if nothing changes', () => {
    const live = pool({ paused: true, maxUnavailable: 1 }, { [LAST_APPLIED]: 'no JSON' });
    const { state: after, objects } = applied(live, pool({ maxUnavailable: 1 }));
    expect(after.pools[0]).toBe(live);
    expect(objects).toMatchObject([{ change: 'same' }]);
  });
});

describe('a MachineConfig that is applied', () => {
  const live = machineConfig('50-a', 'worker', { ...withFile('/a', 'a'), kernelArguments: ['nosmt'] });

  it('is replaced by its manifest', () => {
    const given = machineConfig('50-a', 'worker', withFile('/b', 'b'));
    const { state: after } = applyManifests(state({ machineConfigs: [live] }), { ...none, machineConfigs: [given] });
    expect(after.machineConfigs).toMatchObject([given]);
    expect(after.machineConfigs[0]?.spec).toEqual(given.spec);
  });

  it('keeps its UID, so that its stored remote content still belongs to it', () => {
    const stored = { ...live, metadata: { ...live.metadata, uid: 'u', generation: 3 }, spec: withFile('/a', 'a') };
    const { state: after } = applyManifests(state({ machineConfigs: [stored] }), {
      ...none,
      machineConfigs: [machineConfig('50-a', 'worker', withFile('/a', 'a'))],
    });
    expect(after.machineConfigs[0]).toBe(stored);
  });

  it('gets a new generation if its spec changes, so that content stored for the old one is not used', () => {
    const stored = { ...live, metadata: { ...live.metadata, uid: 'u', generation: 3 } };
    const generations = [
      machineConfig('50-a', 'worker', withFile('/b', 'b')),
      machineConfig('50-a', 'infra', live.spec ?? {}),
    ]
      .map((given) => applyManifests(state({ machineConfigs: [stored] }), { ...none, machineConfigs: [given] }))
      .map(({ state: after }) => after.machineConfigs[0]?.metadata.generation);
    expect(generations).toEqual([4, 3]);
  });

  it('is new or removed if only one side has it', () => {
    const other = machineConfig('60-b', 'worker', withFile('/b', 'b'));
    const added = applyManifests(state({ machineConfigs: [live] }), { ...none, machineConfigs: [other] });
    expect(added.objects).toEqual([{ kind: 'MachineConfig', name: '60-b', change: 'new' }]);
    expect(added.state.machineConfigs).toEqual([live, other]);
    const replaced = replaceManifests(state({ machineConfigs: [live] }), { ...none, machineConfigs: [other] });
    expect(replaced.objects).toMatchObject([
      { name: '60-b', change: 'new' },
      { name: '50-a', change: 'removed' },
    ]);
    expect(replaced.state.machineConfigs).toEqual([other]);
  });
});
