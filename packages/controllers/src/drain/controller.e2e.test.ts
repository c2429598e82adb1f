import { setTimeout } from 'node:timers/promises';
import { cordonedAnnotation, drainBlockedAnnotation, drainSinceAnnotation, nodeAnnotations } from '@slipway/api';
import { createMetrics } from '@slipway/kube';
import { runControllers, type RunningControllers } from '@slipway/testing/run-controllers';
import { until } from '@slipway/testing/wait';
import { sampleStep } from '@slipway/testing/sample';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { drainController } from './controller.ts';
import { type DrainCluster, startDrainCluster } from './testing/drain-cluster.ts';

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
function run(killAtWrite?: number): RunningControllers {
  metrics = createMetrics();
  const started = runControllers(cluster.client, [drainController({ metrics })], { killAtWrite });
  running.push(started);
  return started;
}

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
    { by: 'no user', unschedulable: false, pods: ['free', 'web'], writes: 8 },
    { by: 'a user', unschedulable: true, pods: [], writes: 3 },
  ])(
    'leaves a state that the next one completes, whichever write it was, on a node that $by had cordoned',
    async ({ unschedulable, pods, writes: least }) => {
      // A write refused because of a stale view is one more kill point: their number is not fixed.
      let isKilled = true;
      const { first, step } = sampleStep('drain', 3);
      let write = first - step;
      while (isKilled && write < 2 * least) {
        write += step;
        await cluster.addNode('a', { unschedulable });
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
