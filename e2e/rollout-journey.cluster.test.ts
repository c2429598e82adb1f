import { machineConfigNodes, machineConfigPools, nodeAnnotations, nodes, pods } from '@slipway/api';
import type { MachineConfigPool, Node } from '@slipway/api';
import { createInformer } from '@slipway/kube';
import { runSlipway } from '@slipway/testing/slipway-process';
import {
  addBudget,
  addNamespace,
  addPod,
  allowDisruptions,
  endPod,
  reportReady,
} from '@slipway/testing/stand-in-kubelet';
import { until, type WaitBound } from '@slipway/testing/wait';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { startFleet, type Fleet } from './first-boot/fleet.ts';
import { provisionMachine, probesConfig } from './node/machine.ts';
import { webConfig } from './node/web-config.ts';
import { createWorker, type Worker } from './node/worker.ts';

// The whole way of a change through a fleet: controllers and server are processes of their own, the machines have a real
// systemd and were born by the real Ignition. Only the kubelet and the disruption controller are played.
const { parts } = inject('nodes');
const ignition = inject('ignitionClients').find(({ name }) => name === '2.24')?.client;
const names = ['worker-1', 'worker-2', 'worker-3'];
const OTHER = '/etc/other';
const app = { app: 'web' };
const budget = { namespace: 'shop', name: 'web' };
const pod = { namespace: 'shop', name: 'web-0' };

describe.skipIf(parts === undefined || ignition === undefined)('a fleet of machines with a real systemd', () => {
  let fleet: Fleet;
  const workers = new Map<string, Worker>();
  const stopWatching = new AbortController();
  /** In the order of their first write for each config. */
  const given: string[] = [];
  let mostOut = 0;

  const all = (): Worker[] => [...workers.values()];
  const poolIs = <T>(check: (pool: MachineConfigPool) => T, bound: WaitBound = 'rollout'): Promise<T> =>
    until(async () => check(await fleet.client.get(machineConfigPools, { name: 'worker' })), bound);
  const condition = (pool: MachineConfigPool, type: string) =>
    pool.status?.conditions?.find((each) => each.type === type);
  const updatedTo = (config: string): Promise<void> =>
    poolIs((pool) => {
      expect(condition(pool, 'Updated')).toMatchObject({ status: 'True' });
      expect(pool.status).toMatchObject({
        configuration: { name: config },
        machineCount: 3,
        updatedMachineCount: 3,
        readyMachineCount: 3,
        unavailableMachineCount: 0,
        degradedMachineCount: 0,
      });
    }, 120_000);

  function watchNodes(): Promise<void> {
    const informer = createInformer<Node>(fleet.client.transport, { resource: nodes });
    informer.onChange((change) => {
      if (change.type !== 'updated') return;
      const [before, after] = [change.old, change.object].map(
        ({ metadata }) => metadata.annotations?.[nodeAnnotations.desiredConfig],
      );
      if (after !== undefined && before !== after) given.push(change.object.metadata.name);
      mostOut = Math.max(mostOut, [...informer.store.values()].filter(isOut).length);
    });
    informer.start(stopWatching.signal);
    return informer.synced;
  }

  beforeAll(async () => {
    if (parts === undefined || ignition === undefined) return;
    fleet = await startFleet();
    await fleet.addMachineConfig('40-probes', 'worker', probesConfig(0));
    await fleet.addMachineConfig('50-web', 'worker', webConfig({ message: 'first' }));
    await fleet.rendered('worker', ['00-worker', '40-probes', '50-web']);
    for (const name of names) {
      const worker = createWorker(fleet, await provisionMachine({ name, fleet, parts, ignition }));
      workers.set(name, worker);
      await worker.node.boot();
      await reportReady(fleet.client, name);
    }
  }, 180_000);
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail') return;
    for (const worker of all())
      console.error(worker.node.name, await worker.says(), await worker.journal().catch(String));
  });
  afterAll(async () => {
    stopWatching.abort();
    await Promise.all(all().map(({ node }) => node.stop()));
    await fleet?.stop();
  }, 60_000);

  let first = '';
  let second = '';

  it('is taken in: machines that were born with the pool’s config are at it, and none is touched', async () => {
    first = (await fleet.rendered('worker', ['50-web'])).metadata.name;
    const boots = await Promise.all(all().map(({ node }) => node.bootId()));
    await updatedTo(first);
    expect(await Promise.all(all().map(({ node }) => node.bootId()))).toEqual(boots);
    await watchNodes();
  });

  it('begins with one machine, and waits where a budget keeps a pod on it: the machine and the pool name both', async () => {
    await addNamespace(fleet.client, 'shop');
    await addPod(fleet.client, pod, 'worker-1', { metadata: { labels: app } });
    await addBudget(fleet.client, budget, app, 0);
    await fleet.addMachineConfig('60-other', 'worker', {
      ignition: { version: '3.5.0' },
      storage: { files: [{ path: OTHER, mode: 0o644, contents: { source: 'data:,here' } }] },
    });
    second = await fleet.renderedOtherThan('worker', first);
    const blocked = { message: expect.stringMatching(/shop\/web-0.*\bweb\b/s) };
    await until(async () => {
      const record = await fleet.client.get(machineConfigNodes, { name: 'worker-1' });
      expect(record.status?.conditions?.find(({ type }) => type === 'Drained')).toMatchObject(blocked);
    }, 'rollout');
    await poolIs((pool) => expect(condition(pool, 'Updating')).toMatchObject({ status: 'True', ...blocked }));
    expect(given).toEqual(['worker-1']);
    expect((await fleet.client.get(nodes, { name: 'worker-1' })).spec?.unschedulable).toBe(true);
    expect(all().filter((worker) => worker.exists(OTHER))).toEqual([]);
  });

  it('goes on when the budget allows it: the pod is evicted, the machine reboots, the others follow one by one', async () => {
    const boots = await Promise.all(all().map(({ node }) => node.bootId()));
    await allowDisruptions(fleet.client, budget, 1);
    await until(async () => expect((await fleet.client.get(pods, pod)).metadata.deletionTimestamp).toBeDefined());
    await endPod(fleet.client, pod);
    await updatedTo(second);
    expect(given).toEqual(names);
    expect(mostOut).toBe(1);
    for (const [at, worker] of all().entries()) {
      expect(await worker.file(OTHER)).toBe('here');
      expect(await worker.node.bootId()).not.toBe(boots[at]);
      expect((await fleet.client.get(nodes, { name: worker.node.name })).spec?.unschedulable).toBeUndefined();
    }
  }, 180_000);

  it('goes back when somebody says so, canary first, and stays there', async () => {
    given.length = 0;
    const kubeconfig = await fleet.kubeconfigFor({ user: 'admin', groups: ['system:masters'], name: 'admin' });
    const answer = await runSlipway('rollback', 'worker', '--kubeconfig', kubeconfig);
    expect(answer).toMatchObject({ code: 0 });
    await updatedTo(first);
    expect(given).toEqual(names);
    expect(mostOut).toBe(1);
    expect(all().filter((worker) => worker.exists(OTHER))).toEqual([]);
  }, 180_000);
});

/** Cordoned, or on the way from one config to another. */
function isOut({ metadata, spec }: Node): boolean {
  const { annotations = {} } = metadata;
  const [current, desired, state] = [
    annotations[nodeAnnotations.currentConfig],
    annotations[nodeAnnotations.desiredConfig],
    annotations[nodeAnnotations.state],
  ];
  return spec?.unschedulable === true || current !== desired || state !== 'Done';
}
