import { setTimeout } from 'node:timers/promises';
import { cordonedAnnotation, drainBlockedAnnotation, drainSinceAnnotation, nodeAnnotations, nodes } from '@slipway/api';
import { createMetrics, KubeError, type KubeObject, type Name, type Resource, type WriteGuard } from '@slipway/kube';
import { runControllers, type RunningControllers } from '@slipway/testing/run-controllers';
import { until } from '@slipway/testing/wait';
import { reportReady } from '@slipway/testing/stand-in-kubelet';
import { sampleStep } from '@slipway/testing/sample';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { drainController } from './controller.ts';
import { type DrainCluster, startDrainCluster } from './testing/drain-cluster.ts';
import {
  addMachine,
  CLUSTER_NAMESPACE,
  clusterApiMachines,
  findVictims,
  healthChecks,
  MACHINE_NAMESPACE,
} from './testing/machine-replacers.ts';

const { lastAppliedDrain } = nodeAnnotations;
const ofDaemonSet = { owner: { kind: 'DaemonSet', name: 'agents' } };
const mirror = { annotations: { 'kubernetes.io/config.mirror': 'x', 'kubernetes.io/config.source': 'file' } };

let cluster: DrainCluster;
const running: RunningControllers[] = [];
let metrics = createMetrics();

beforeAll(async () => {
  cluster = await startDrainCluster();
  await cluster.addReplicaSet('web-6d5f', 'web');
});
afterAll(() => cluster?.stop());
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
  await cluster.clear();
});

/** `killAtWrite`: simulates a kill right before that write. */
function run(killAtWrite?: number, guard?: WriteGuard, client = cluster.client): RunningControllers {
  metrics = createMetrics();
  const drain = drainController({ metrics, machineApiNamespace: MACHINE_NAMESPACE });
  const started = runControllers(client, [drain], { killAtWrite, guard });
  running.push(started);
  return started;
}

/** The annotations that keep other programs from deleting the machine of a node. */
async function readProtection(name: string) {
  const others = /\/(machine|cluster-namespace)$/;
  const keys = (object: KubeObject | undefined, key: RegExp): string[] | undefined =>
    object &&
    Object.entries(object.metadata.annotations ?? {})
      .filter(([annotation]) => key.test(annotation) && !others.test(annotation))
      .map(([annotation, value]) => `${annotation}=${value}`)
      .sort();
  const key = /scale-down|x-k8s\.io|rebooting/;
  const check = { namespace: MACHINE_NAMESPACE, name: 'workers' };
  return {
    node: keys(await cluster.client.find(nodes, { name }), key),
    machine: keys(await cluster.client.find(clusterApiMachines, { namespace: CLUSTER_NAMESPACE, name }), key),
    check: keys(await cluster.client.find(healthChecks, check), key),
  };
}
const unprotected = { node: [], machine: [], check: [] };
const SCALE_DOWN = 'cluster-autoscaler.kubernetes.io/scale-down-disabled';
const wholeProtection = {
  node: [`${SCALE_DOWN}=true`, 'slipway.dev/scale-down-disabled-before='],
  machine: ['cluster.x-k8s.io/skip-remediation=slipway.dev', 'slipway.dev/rebooting-nodes=a'],
  check: ['cluster.x-k8s.io/paused=slipway.dev', 'slipway.dev/rebooting-nodes=a'],
};
const annotateObject = (resource: Resource, name: Name, annotations: Record<string, string | null>) =>
  cluster.client.patch(resource, name, { type: 'merge', body: { metadata: { annotations } } }, {});

async function readDrainState(name: string) {
  const { metadata, spec } = await cluster.node(name);
  const { annotations = {} } = metadata;
  return {
    applied: annotations[lastAppliedDrain],
    isCordoned: spec?.unschedulable === true,
    ours: annotations[cordonedAnnotation],
    since: annotations[drainSinceAnnotation],
    blocked: annotations[drainBlockedAnnotation],
  };
}
type ObservedDrainState = Awaited<ReturnType<typeof readDrainState>>;

const untilNode = (
  name: string,
  wanted: Partial<Record<keyof ObservedDrainState, unknown>>,
): Promise<ObservedDrainState> =>
  until(async () => {
    const says = await readDrainState(name);
    expect(says).toMatchObject(wanted);
    return says;
  });

/** The node is as before, and its request is completed. */
const atRest = (applied: string): ObservedDrainState => ({
  applied,
  isCordoned: false,
  ours: undefined,
  since: undefined,
  blocked: undefined,
});

const untilTerminating = (pod: string): Promise<void> =>
  until(async () => expect((await cluster.pod(pod))?.metadata.deletionTimestamp).toBeDefined());

const untilEvent = (node: string, reason: string, message: RegExp, type = 'Normal'): Promise<void> =>
  until(async () => {
    const wanted = { type, reason, message: expect.stringMatching(message) };
    expect(await cluster.eventsOf(node)).toContainEqual(expect.objectContaining(wanted));
  });

/** The kubelet of every node, for the duration of the test. */
async function withKubelet<T>(work: () => Promise<T>): Promise<T> {
  const ended = new AbortController();
  const kubelet = (async () => {
    while (!ended.signal.aborted) {
      await cluster.endPods();
      await setTimeout(50);
    }
  })();
  try {
    return await work();
  } finally {
    ended.abort();
    await kubelet;
  }
}

const count = (writes: readonly string[], what: string): number => writes.filter((each) => each === what).length;

describe('a node that requests a drain', () => {
  it('is cordoned and emptied, each pod evicted once, except mirror pods and DaemonSet pods; then it is uncordoned', async () => {
    await cluster.addNode('a');
    await cluster.addNode('b');
    await cluster.addPod('web-1', 'a', { owner: { kind: 'ReplicaSet', name: 'web-6d5f' } });
    await cluster.addPod('alone', 'a');
    await cluster.addPod('agent', 'a', ofDaemonSet);
    await cluster.addPod('static', 'a', mirror);
    await cluster.addPod('done', 'a', { phase: 'Succeeded' });
    await cluster.addPod('elsewhere', 'b');
    const { writes } = run();
    await cluster.ask('a', 'drain-rendered-1');
    await untilTerminating('web-1');
    await untilTerminating('alone');
    const during = await readDrainState('a');
    expect(during).toMatchObject({ applied: undefined, isCordoned: true, blocked: undefined });
    expect(Date.parse(during.ours ?? '')).toBe(Date.parse(during.since ?? ''));
    await cluster.endPods(['web-1']);
    expect((await readDrainState('a')).applied).toBeUndefined();
    await cluster.endPods();
    expect(await untilNode('a', { applied: 'drain-rendered-1' })).toEqual({
      ...atRest('drain-rendered-1'),
      isCordoned: true,
      ours: during.ours,
    });
    expect(await cluster.podNames()).toEqual(['agent', 'done', 'elsewhere', 'static']);

    await cluster.ask('a', 'uncordon-rendered-1');
    expect(await untilNode('a', { applied: 'uncordon-rendered-1' })).toEqual(atRest('uncordon-rendered-1'));
    expect([...writes].sort()).toEqual([
      'evict Pod shop/alone',
      'evict Pod shop/web-1',
      ...Array(3).fill('patch Node a'),
    ]);
    await untilEvent('a', 'Cordon', /drained for the update to rendered-1/);
    await untilEvent('a', 'Drain', /The node is drained.*The update to rendered-1 continues/);
    await untilEvent('a', 'Uncordon', /The node is uncordoned/);
  });

  it('that a user cordoned stays cordoned', async () => {
    await cluster.addNode('a', { unschedulable: true });
    await cluster.addNode('b');
    run();
    await cluster.ask('a', 'drain-rendered-1');
    await untilNode('a', { applied: 'drain-rendered-1', isCordoned: true, ours: undefined });
    await cluster.ask('a', 'uncordon-rendered-1');
    expect(await untilNode('a', { applied: 'uncordon-rendered-1' })).toEqual({
      ...atRest('uncordon-rendered-1'),
      isCordoned: true,
    });
    await untilEvent('a', 'Uncordon', /stays cordoned.*kubectl uncordon a/);
  });

  it('that a user uncordons after its drain, and cordons again, stays cordoned', async () => {
    await cluster.addNode('a');
    await cluster.addNode('b');
    run();
    await cluster.ask('a', 'drain-rendered-1');
    await untilNode('a', { applied: 'drain-rendered-1', ours: expect.any(String) });
    await cluster.setCordoned('a', false);
    await untilNode('a', { isCordoned: false, ours: undefined });
    await cluster.setCordoned('a', true);
    await cluster.ask('a', 'uncordon-rendered-1');
    await untilNode('a', { applied: 'uncordon-rendered-1', isCordoned: true });
  });

  it('that is the only one keeps its pods, and an event explains why', async () => {
    await cluster.addNode('single');
    await cluster.addPod('web-1', 'single');
    const { writes } = run();
    await cluster.ask('single', 'drain-rendered-1');
    expect(await untilNode('single', { applied: 'drain-rendered-1' })).toEqual(atRest('drain-rendered-1'));
    await untilEvent('single', 'Drain', /there is no other node/);
    await cluster.ask('single', 'uncordon-rendered-1');
    await untilNode('single', { applied: 'uncordon-rendered-1' });
    expect(writes).toEqual(['patch Node single', 'patch Node single']);
    expect((await cluster.pod('web-1'))?.metadata.deletionTimestamp).toBeUndefined();
  });

  it('that requests an uncordon during the drain gets it, and the remaining pods stay', async () => {
    await cluster.addNode('a');
    await cluster.addNode('b');
    await cluster.addPod('web-1', 'a', { app: 'web' });
    await cluster.addBudget('web', 0);
    run();
    await cluster.ask('a', 'drain-rendered-1');
    await untilNode('a', { blocked: expect.stringContaining('shop/web-1') });
    await cluster.ask('a', 'uncordon-rendered-0');
    expect(await untilNode('a', { applied: 'uncordon-rendered-0' })).toEqual(atRest('uncordon-rendered-0'));
    await cluster.allow('web', 1);
    // The controller has processed this change when it completes a later drain.
    await cluster.ask('b', 'drain-rendered-1');
    await untilNode('b', { applied: 'drain-rendered-1' });
    expect((await cluster.pod('web-1'))?.metadata.deletionTimestamp).toBeUndefined();
  });
});

describe('a drain that a budget blocks', () => {
  it('names pod, owner, budget and remediation, writes nothing while nothing changes, and continues within seconds when the budget allows it', async () => {
    await cluster.addNode('a');
    await cluster.addNode('b');
    await cluster.addPod('web-1', 'a', { app: 'web', owner: { kind: 'ReplicaSet', name: 'web-6d5f' } });
    await cluster.addPod('free', 'a');
    await cluster.addBudget('web', 0);
    const { writes } = run();
    await cluster.ask('a', 'drain-rendered-1');
    const text =
      'The drain is waiting for 1 pod. Pod shop/web-1 of Deployment web: PodDisruptionBudget web needs 1 healthy pods and has 1; ' +
      'add healthy pods, change the budget, or delete the pod.';
    await untilNode('a', { blocked: text, isCordoned: true, applied: undefined });
    await untilEvent('a', 'Drain', /web-1.*PodDisruptionBudget web/);
    await cluster.endPods();
    expect(await cluster.podNames()).toEqual(['web-1']);

    // Unrelated changes: no eviction is retried, and nothing is written.
    await cluster.addBudget('other', 0);
    for (const beat of ['1', '2', '3']) await cluster.annotate('a', { 'example.com/heartbeat': beat });
    await cluster.ask('b', 'drain-rendered-1');
    await untilNode('b', { applied: 'drain-rendered-1' });
    expect(writes.filter((each) => !each.endsWith(' b'))).toEqual([
      'patch Node a',
      'evict Pod shop/free',
      'evict Pod shop/web-1',
      'patch Node a',
    ]);

    const freedAt = Date.now();
    await cluster.allow('web', 1);
    await untilTerminating('web-1');
    expect(Date.now() - freedAt).toBeLessThan(5000);
    await untilNode('a', { blocked: undefined });
    await cluster.endPods();
    await untilNode('a', { applied: 'drain-rendered-1' });
    expect(count(writes, 'evict Pod shop/web-1')).toBe(2);
  });

  it('by two budgets of one pod, for which Kubernetes returns an internal error, names both', async () => {
    await cluster.addNode('a');
    await cluster.addNode('b');
    await cluster.addPod('web-1', 'a', { app: 'web' });
    await cluster.addPod('free', 'a');
    await cluster.addBudget('one', 1, 'web');
    await cluster.addBudget('two', 1, 'web');
    run();
    await cluster.ask('a', 'drain-rendered-1');
    await untilNode('a', {
      blocked: expect.stringMatching(/shop\/web-1: PodDisruptionBudgets one and two both select it/),
    });
    await untilTerminating('free');
  });

  it('for more than an hour is reported in a metric and an event, until it continues', async () => {
    const longAgo = new Date(Date.now() - 2 * 3_600_000).toISOString();
    await cluster.addNode('a', {
      unschedulable: true,
      annotations: { [cordonedAnnotation]: longAgo, [drainSinceAnnotation]: longAgo },
    });
    await cluster.addNode('b');
    await cluster.addPod('web-1', 'a', { app: 'web' });
    await cluster.addBudget('web', 0);
    run();
    const measured = async (): Promise<string> => metrics.registry.getSingleMetricAsString('mcc_drain_err');
    expect(await measured()).not.toContain('node="a"');
    await cluster.ask('a', 'drain-rendered-1');
    await untilEvent('a', 'FailedToDrain', /web-1.*PodDisruptionBudget web/, 'Warning');
    expect(await measured()).toContain('mcc_drain_err{node="a"} 1');
    await cluster.allow('web', 1);
    await withKubelet(() => untilNode('a', { applied: 'drain-rendered-1', ours: longAgo }));
    expect(await measured()).not.toContain('node="a"');
  });
});

describe('a node that reboots for its update', () => {
  it('is not deleted by the autoscaler, nor replaced by health checks, from before it may reboot until it is ready', async () => {
    await cluster.addNode('a', { annotations: await addMachine(cluster.client, 'a') });
    await cluster.addNode('b', { annotations: { [SCALE_DOWN]: 'true' } });
    await cluster.addPod('web-1', 'a');
    await reportReady(cluster.client, 'a');
    const { writes } = run();
    await cluster.ask('a', 'drain-rendered-1');
    await untilTerminating('web-1');
    await cluster.endPods();
    await untilNode('a', { applied: 'drain-rendered-1' });
    // It is empty and down now, which makes the machine a victim of all three.
    await reportReady(cluster.client, 'a', { isReady: false });
    expect(await readProtection('a')).toEqual(wholeProtection);
    expect(await findVictims(cluster.client)).toEqual({ autoscaler: [], clusterApi: [], machineApi: [] });
    // Its daemon can be done before its kubelet is.
    await cluster.ask('a', 'uncordon-rendered-1');
    await untilNode('a', atRest('uncordon-rendered-1'));
    expect(await readProtection('a')).toEqual(wholeProtection);
    await reportReady(cluster.client, 'a');
    await until(async () => expect(await readProtection('a')).toEqual(unprotected));
    expect(writes).toEqual([
      'patch Node a',
      'evict Pod shop/web-1',
      'patch Machine clusters/a',
      'patch MachineHealthCheck openshift-machine-api/workers',
      'patch Node a',
      'patch Node a',
      'patch Machine clusters/a',
      'patch MachineHealthCheck openshift-machine-api/workers',
      'patch Node a',
    ]);
    // A machine that fails later is replaced.
    await reportReady(cluster.client, 'a', { isReady: false });
    expect(await findVictims(cluster.client)).toEqual({ autoscaler: ['a'], clusterApi: ['a'], machineApi: ['a'] });
  });

  it.each([
    { is: 'has a Machine and is ready when its update ends', hasMachine: true, isReady: true },
    { is: 'has no Machine', hasMachine: false, isReady: false },
  ])('and $is costs no further write of its Node', async ({ hasMachine, isReady }) => {
    await cluster.addNode('a', { annotations: hasMachine ? await addMachine(cluster.client, 'a') : {} });
    await cluster.addNode('b');
    const { writes } = run();
    await cluster.ask('a', 'drain-rendered-1');
    await untilNode('a', { applied: 'drain-rendered-1' });
    await reportReady(cluster.client, 'a', { isReady });
    await cluster.ask('a', 'uncordon-rendered-1');
    await untilNode('a', atRest('uncordon-rendered-1'));
    expect(await readProtection('a')).toEqual(hasMachine ? unprotected : { node: [] });
    expect(count(writes, 'patch Node a')).toBe(3);
  });

  it('that is the only one of its cluster is protected too', async () => {
    await cluster.addNode('a', { annotations: await addMachine(cluster.client, 'a') });
    run();
    await cluster.ask('a', 'drain-rendered-1');
    await untilNode('a', { applied: 'drain-rendered-1', isCordoned: false });
    expect(await readProtection('a')).toEqual(wholeProtection);
    await cluster.ask('a', 'uncordon-rendered-1');
    await until(async () => expect(await readProtection('a')).toEqual(unprotected));
  });

  it('leaves what users have set: before its update, and during it', async () => {
    const annotations = { ...(await addMachine(cluster.client, 'a')), [SCALE_DOWN]: 'true' };
    const machine = { namespace: CLUSTER_NAMESPACE, name: 'a' };
    const check = { namespace: MACHINE_NAMESPACE, name: 'workers' };
    await cluster.addNode('a', { annotations });
    await cluster.addNode('b');
    await annotateObject(clusterApiMachines, machine, { 'cluster.x-k8s.io/skip-remediation': '' });
    const { writes } = run();
    await cluster.ask('a', 'drain-rendered-1');
    await untilNode('a', { applied: 'drain-rendered-1' });
    await annotateObject(healthChecks, check, { 'cluster.x-k8s.io/paused': 'by a user' });
    await cluster.ask('a', 'uncordon-rendered-1');
    await untilNode('a', atRest('uncordon-rendered-1'));
    expect(await readProtection('a')).toEqual({
      node: [`${SCALE_DOWN}=true`],
      machine: ['cluster.x-k8s.io/skip-remediation='],
      check: ['cluster.x-k8s.io/paused=by a user'],
    });
    expect(count(writes, 'patch Machine clusters/a')).toBe(0);
  });

  it('and whose machine is deleted meanwhile leaves no health check paused, even if no controller ran by then and it has joined again', async () => {
    for (const name of ['a', 'b']) {
      await cluster.addNode(name, { annotations: await addMachine(cluster.client, name) });
    }
    const first = run();
    for (const name of ['a', 'b']) await cluster.ask(name, 'drain-rendered-1');
    for (const name of ['a', 'b']) await untilNode(name, { applied: 'drain-rendered-1' });
    expect((await readProtection('a')).check).toContain('slipway.dev/rebooting-nodes=a,b');
    await cluster.client.delete(nodes, { name: 'a' }, {});
    await until(async () =>
      expect((await readProtection('b')).check).toEqual([
        'cluster.x-k8s.io/paused=slipway.dev',
        'slipway.dev/rebooting-nodes=b',
      ]),
    );
    await first.stop();
    await cluster.client.delete(nodes, { name: 'b' }, {});
    await cluster.addNode('b');
    run();
    await until(async () => expect((await readProtection('b')).check).toEqual([]));
  });

  it('together with others costs one write of their health check when it leaves, and one when it is back', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const name of names) await cluster.addNode(name, { annotations: await addMachine(cluster.client, name) });
    const { writes } = run();
    for (const wish of ['drain-rendered-1', 'uncordon-rendered-1']) {
      await Promise.all(names.map((name) => cluster.ask(name, wish)));
      for (const name of names) await untilNode(name, { applied: wish });
    }
    expect(count(writes, `patch MachineHealthCheck ${MACHINE_NAMESPACE}/workers`)).toBe(2 * names.length);
    expect((await readProtection('a')).check).toEqual([]);
  });

  it('waits with its reboot if its health check cannot be paused, and says so', async () => {
    await cluster.addNode('a', { annotations: await addMachine(cluster.client, 'a') });
    await cluster.addNode('b');
    const dying = run(undefined, ({ resource, name }) => {
      if (resource.kind !== 'MachineHealthCheck') return;
      throw new KubeError('SLW_KUBE_FORBIDDEN', `machinehealthchecks ${name.name} is forbidden`);
    });
    await cluster.ask('a', 'drain-rendered-1');
    const blocked = expect.stringMatching(/no MachineHealthCheck can replace its machine: .*workers is forbidden/);
    await untilNode('a', { blocked, applied: undefined });
    await untilEvent('a', 'FailedToDrain', /workers is forbidden/, 'Warning');
    await dying.stop();
    run();
    await untilNode('a', { applied: 'drain-rendered-1', blocked: undefined });
    expect(await readProtection('a')).toEqual(wholeProtection);
  });
});

describe('a controller without permission for Machines', () => {
  it('reboots no node that has one, reports it as any drain that is blocked, and continues once it has the permission; deleted nodes do not pile up', async () => {
    const longAgo = new Date(Date.now() - 2 * 3_600_000).toISOString();
    const annotations = {
      ...(await addMachine(cluster.client, 'a')),
      [cordonedAnnotation]: longAgo,
      [drainSinceAnnotation]: longAgo,
    };
    await cluster.addNode('a', { unschedulable: true, annotations });
    await cluster.addNode('b');
    const { client, permit } = await cluster.withoutPermission();
    const { log } = run(undefined, undefined, client);
    await cluster.ask('a', 'drain-rendered-1');
    const refused =
      /no MachineHealthCheck can replace its machine: .*cannot get resource "machines".*SLW_KUBE_FORBIDDEN/;
    await untilNode('a', { blocked: expect.stringMatching(refused), applied: undefined });
    await untilEvent('a', 'FailedToDrain', refused, 'Warning');
    expect(await metrics.registry.getSingleMetricAsString('mcc_drain_err')).toContain('mcc_drain_err{node="a"} 1');
    await cluster.addNode('deleted');
    await cluster.client.delete(nodes, { name: 'deleted' }, {});
    const linesOf = (key: string): string[] =>
      log()
        .split('\n')
        .filter((line) => line.includes(`"${key}"`) && line.includes('SLW_KUBE_FORBIDDEN'));
    await until(() => expect(linesOf('deleted')).not.toEqual([]));
    expect(linesOf('deleted').filter((line) => line.includes('will be retried'))).toEqual([]);
    await permit();
    await until(async () => {
      // Any change of the Node is a reason to try again, before the minute is over.
      await cluster.annotate('a', { 'slipway.dev/test': String(Date.now()) });
      expect(await readDrainState('a')).toMatchObject({ applied: 'drain-rendered-1', blocked: undefined });
    });
    expect(await metrics.registry.getSingleMetricAsString('mcc_drain_err')).not.toContain('node="a"');
  });

  it('needs none in a cluster that does not have this API, such as one whose Machines are in a management cluster', async () => {
    const workload = await startDrainCluster({ hasMachineKinds: false });
    try {
      const annotations = {
        'cluster.x-k8s.io/machine': 'a',
        'cluster.x-k8s.io/cluster-namespace': CLUSTER_NAMESPACE,
        'machine.openshift.io/machine': `${MACHINE_NAMESPACE}/a`,
      };
      await workload.addNode('a', { annotations });
      await workload.addNode('b');
      const { log } = run(undefined, undefined, (await workload.withoutPermission()).client);
      for (const wish of ['drain-rendered-1', 'uncordon-rendered-1']) {
        await workload.ask('a', wish);
        await until(async () =>
          expect((await workload.node('a')).metadata.annotations).toMatchObject({ [lastAppliedDrain]: wish }),
        );
      }
      expect(log()).not.toContain('SLW_KUBE_FORBIDDEN');
    } finally {
      await Promise.all(running.splice(0).map((each) => each.stop()));
      await workload.stop();
    }
  });
});

describe('a controller that is killed between two writes', () => {
  /** A whole drain and the uncordon, from any state. The budget allows the eviction once it is seen to block. */
  async function goOn(isOver: () => boolean): Promise<void> {
    const untilSays = (check: (says: ObservedDrainState) => boolean): Promise<void> =>
      until(async () => expect(isOver() || check(await readDrainState('a'))).toBe(true));
    await untilSays(({ blocked, applied }) => blocked !== undefined || applied !== undefined);
    await cluster.allow('web', 1);
    await untilSays(({ applied }) => applied !== undefined);
    if (!isOver()) await cluster.ask('a', 'uncordon-rendered-1');
    await untilSays(({ applied }) => applied === 'uncordon-rendered-1');
  }

  it.each([
    // Cordon, two evictions, the blockers, the allowed eviction, no blockers, completion, uncordon.
    { by: 'no user', unschedulable: false, pods: ['free', 'web'], writes: 8, hasMachine: false },
    { by: 'a user', unschedulable: true, pods: [], writes: 3, hasMachine: false },
    // Cordon, Machine and MachineHealthCheck, completion, both again, uncordon.
    { by: 'no user (it has a Machine)', unschedulable: false, pods: [], writes: 7, hasMachine: true },
  ])(
    'leaves a state that the next one completes, whichever write it was, on a node that $by had cordoned',
    async ({ unschedulable, pods, writes: least, hasMachine }) => {
      // A write refused because of a stale view is one more kill point: their number is not fixed.
      let isKilled = true;
      const { first, step } = sampleStep('drain', 3);
      let write = first - step;
      while (isKilled && write < 2 * least) {
        write += step;
        await cluster.addNode('a', {
          unschedulable,
          annotations: hasMachine ? await addMachine(cluster.client, 'a') : {},
        });
        await cluster.addNode('b');
        for (const app of pods) await cluster.addPod(`${app}-1`, 'a', { app });
        await cluster.addBudget('web', 0);
        const dying = run(write);
        const isDead = (): boolean => dying.log().includes('the process is dead');
        await cluster.ask('a', 'drain-rendered-1');
        const next = await withKubelet(async () => {
          await goOn(isDead);
          if (!isDead()) return null;
          await dying.stop();
          const started = run();
          await goOn(() => false);
          return started;
        });
        isKilled = next !== null;
        expect(await readDrainState('a')).toEqual({ ...atRest('uncordon-rendered-1'), isCordoned: unschedulable });
        expect(await readProtection('a')).toEqual(hasMachine ? unprotected : { node: [] });
        expect(await cluster.podNames()).toEqual([]);
        const writes = [...dying.writes, ...(next?.writes ?? [])];
        expect(count(writes, 'evict Pod shop/free-1')).toBe(pods.includes('free') ? 1 : 0);
        await (next ?? dying).stop();
        await cluster.clear();
      }
      expect(isKilled).toBe(false);
      expect(write).toBeGreaterThan(least);
    },
    120_000,
  );
});
