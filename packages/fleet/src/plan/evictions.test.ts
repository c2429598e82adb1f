import type { Pod, PodDisruptionBudget } from '@slipway/api';
import type { Stored } from '../kube-object.ts';
import { describe, expect, it } from 'vitest';
import { machineConfig, planSample, poolIn, withFile } from '../testing/sample-plan.ts';
import { type EvictedPod, evictedPod, withEvictions } from './evictions.ts';

const pod = (name: string, node = 'worker-0', more: { metadata?: object; phase?: string } = {}): Stored<Pod> => ({
  metadata: {
    name,
    namespace: 'shop',
    uid: name,
    resourceVersion: '1',
    labels: { app: 'web' },
    ...more.metadata,
  },
  spec: { nodeName: node },
  status: { phase: more.phase ?? 'Running' },
});
const budget = (name: string, allowed: number, namespace = 'shop'): PodDisruptionBudget => ({
  metadata: { name, namespace },
  spec: { selector: { matchLabels: { app: 'web' } } },
  status: { disruptionsAllowed: allowed },
});
const plan = () =>
  planSample(
    { nodes: [{ name: 'worker-0' }, { name: 'worker-1' }, { name: 'm', roles: ['master'] }] },
    { machineConfigs: [machineConfig('50-a', 'worker', withFile('/etc/a', 'a'))] },
  );

async function drainsWith(pods: readonly Stored<Pod>[], budgets: readonly PodDisruptionBudget[]) {
  const evicted = pods.map(evictedPod).filter((each): each is EvictedPod => each !== null);
  return poolIn(withEvictions(await plan(), evicted, budgets), 'worker').nodes.map(({ drain }) => drain);
}

describe('a drain', () => {
  it('evicts the pods of the machine, except those that a drain ignores', async () => {
    const owner = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd', controller: true }];
    const pods = [
      pod('web-1'),
      pod('web-0'),
      pod('elsewhere', 'worker-1'),
      pod('daemon', 'worker-0', { metadata: { ownerReferences: owner } }),
      pod('finished', 'worker-0', { phase: 'Succeeded' }),
      pod('going', 'worker-0', { metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' } }),
    ];
    expect(await drainsWith(pods, [])).toEqual([
      { evicted: ['shop/web-0', 'shop/web-1'], blockedBy: [] },
      { evicted: ['shop/elsewhere'], blockedBy: [] },
    ]);
  });

  it('is blocked by a budget that allows fewer evictions than it has pods there', async () => {
    const pods = [
      pod('web-0'),
      pod('web-1'),
      pod('web-2', 'worker-1'),
      pod('starts', 'worker-1', { phase: 'Pending' }),
    ];
    expect(await drainsWith(pods, [budget('web', 1), budget('web', 0, 'elsewhere')])).toMatchObject([
      { blockedBy: [{ budget: 'shop/web', allowed: 1, pods: ['shop/web-0', 'shop/web-1'] }] },
      { blockedBy: [] },
    ]);
  });

  it('has no list of evictions if pods cannot be listed', async () => {
    const { nodes } = poolIn(withEvictions(await plan(), null, []), 'worker');
    expect(nodes.map(({ drain }) => drain)).toEqual([
      { evicted: null, blockedBy: [] },
      { evicted: null, blockedBy: [] },
    ]);
  });

  it('does not exist for an unaffected machine', async () => {
    expect(poolIn(withEvictions(await plan(), [], []), 'master').nodes).toMatchObject([{ drain: null }]);
  });
});
