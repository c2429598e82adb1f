import { isEqual } from '@slipway/base/equal';
import { machineConfigPools, rolloutPolicyAnnotations, rolloutStateAnnotation } from '@slipway/api';
import { resourceId } from '@slipway/kube';
import { expect, it } from 'vitest';
import { drainController } from '../drain/controller.ts';
import { annotationsOf } from '../testing/simulation/fleet-rules.ts';
import { untilConverged } from '../testing/simulation/rollout-scenario.ts';
import { createCluster } from '../testing/simulation/simulated-cluster.ts';
import { rolloutController } from './controller.ts';

const MINUTE = 60_000;
const MACHINES = 6;
const policy = { [rolloutPolicyAnnotations.waves]: '1,3,100%', [rolloutPolicyAnnotations.soak]: '30m' };

interface Rollout {
  /** Minutes until every machine is updated. */
  readonly minutes: number;
  /** The start times that the pool named. */
  readonly starts: number;
  readonly annotationWrites: number;
}

/** As a GitOps tool replaces the pool, with the annotations and the config that its file lacks. */
async function rollOut(replacedAfterMinutes: readonly number[]): Promise<Rollout> {
  const cluster = createCluster({
    seed: 5,
    controllers: () => [rolloutController(), drainController()],
    changeOf: () => ({ isEmpty: false, needsDrain: true, reboots: false, end: 'works' }),
    lagMs: () => 50,
  });
  const { api, time, referee } = cluster;
  cluster.addPool('worker', { maxUnavailable: 2 }, policy);
  cluster.render('worker');
  for (let each = 0; each < MACHINES; each += 1) cluster.addNode('worker', { isSettled: true });
  await time.runUntil(time.now() + 60 * MINUTE);

  const target = cluster.render('worker');
  const from = time.now();
  const starts = new Set<string>();
  let endedAt = 0;
  let annotationWrites = 0;
  let isOurs = true;
  api.onChange(({ resource, object, old }) => {
    if (resourceId(resource) !== resourceId(machineConfigPools)) return;
    const text = annotationsOf(object)[rolloutStateAnnotation];
    const state = JSON.parse(text ?? '{}') as { target?: string; startedAt: string; endedAt: string | null };
    if (state.target === target) {
      starts.add(state.startedAt);
      if (state.endedAt !== null) endedAt = Date.parse(state.endedAt);
    }
    // A new generation is also observed in the status.
    if (old !== undefined && isEqual(annotationsOf(object), annotationsOf(old))) return;
    annotationWrites += Number(isOurs);
  });
  const write = (body: object): void => {
    isOurs = false;
    cluster.patchPool('worker', body);
    isOurs = true;
  };
  for (const after of replacedAfterMinutes) {
    await time.runUntil(from + after * MINUTE);
    const { metadata } = api.get(machineConfigPools, { name: 'worker' });
    const removed = Object.keys(metadata.annotations ?? {}).filter((key) => !(key in policy));
    write({
      metadata: { annotations: Object.fromEntries(removed.map((key) => [key, null])) },
      spec: { configuration: null },
    });
    // The render controller is not simulated.
    await time.runUntil(time.now() + 1000);
    write({ spec: { configuration: { name: target } } });
  }
  await untilConverged(cluster);
  expect(referee.violations).toEqual([]);
  return { minutes: Math.round((endedAt - from) / MINUTE), starts: starts.size, annotationWrites };
}

it('a rollout whose pool is replaced as a whole continues where it was, at the cost of one write', async () => {
  const alone = await rollOut([]);
  expect(alone).toMatchObject({ starts: 1 });
  expect(alone.minutes).toBeGreaterThan(60);
  for (const minute of [1, 20, 45, 62]) {
    const replaced = await rollOut([minute]);
    expect(replaced.starts, `replaced after ${minute} minutes`).toBe(1);
    expect(replaced.minutes).toBeLessThanOrEqual(alone.minutes + 1);
    // With a write of its own, or with the next one.
    expect(replaced.annotationWrites - alone.annotationWrites).toBeLessThanOrEqual(1);
  }
});
