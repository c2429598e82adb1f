// A config that breaks every machine it touches, and how far it gets.
import { machineConfigPools, nodeAnnotations, nodes, rolloutPolicyAnnotations } from '@slipway/api';
import { resourceId } from '@slipway/kube';
import { expect } from 'vitest';
import { drainController } from '../../drain/controller.ts';
import { annotationsOf, readTargetConfig } from '../../testing/simulation/fleet-rules.ts';
import { untilConverged } from '../../testing/simulation/rollout-scenario.ts';
import { createCluster, type SimulatedCluster } from '../../testing/simulation/simulated-cluster.ts';
import { rolloutController } from '../controller.ts';

const MACHINES = 100;
const HOUR = 3_600_000;
const { currentConfig, desiredConfig, state } = nodeAnnotations;

interface BlastRadius {
  readonly cluster: SimulatedCluster;
  readonly good: string;
  /** Machines that the bad config ever reached. */
  readonly touched: ReadonlySet<string>;
}

/** A hundred machines get a config that breaks every one it touches, with views that lag and a process that dies. */
async function breakAll(seed: number, annotations: Record<string, string>): Promise<BlastRadius> {
  const cluster = createCluster({
    seed,
    controllers: () => [rolloutController(), drainController()],
    lagMs: (random) => random.int(1, 5000),
    fateOf: () => (cluster.random.chance(0.02) ? cluster.random.pick(['dies before', 'dies after']) : 'lands'),
  });
  const { time, api, random } = cluster;
  cluster.addPool('worker', { maxUnavailable: random.pick([1, 5, '10%', '100%']) }, annotations);
  const good = cluster.render('worker');
  for (let each = 0; each < MACHINES; each += 1) cluster.addNode('worker', { isSettled: true });
  await time.runUntil(time.now() + HOUR);
  const bad = cluster.render('worker', { share: 1, end: random.pick(['fails', 'is refused']) });
  const touched = new Set<string>();
  api.onChange(({ resource, object }) => {
    const isTouched = resourceId(resource) === resourceId(nodes) && annotationsOf(object)[desiredConfig] === bad;
    if (isTouched) touched.add(object.metadata.name);
  });
  await time.runUntil(time.now() + 12 * HOUR);
  return { cluster, good, touched };
}

/** It stops after one machine. */
export async function expectOneTouched(seeds: readonly number[]): Promise<void> {
  const touched: number[] = [];
  for (const seed of seeds) {
    const { cluster, ...outcome } = await breakAll(seed, {});
    expect(cluster.referee.violations, `seed ${seed}`).toEqual([]);
    const broken = cluster.api.list(nodes).filter((node) => annotationsOf(node)[state] !== 'Done');
    expect(broken, `seed ${seed}`).toHaveLength(1);
    touched.push(outcome.touched.size);
  }
  console.log(
    `${seeds.length} runs of ${MACHINES} machines: at most ${Math.max(...touched)} machine was touched by the bad config`,
  );
  expect(new Set(touched)).toEqual(new Set([1]));
}

/** With automatic rollback, all are on the last good config in the end. */
export async function expectAllReturned(seeds: readonly number[]): Promise<void> {
  for (const seed of seeds) {
    const { cluster, good, touched } = await breakAll(seed, { [rolloutPolicyAnnotations.onFailure]: 'return' });
    await untilConverged(cluster);
    expect(cluster.referee.violations, `seed ${seed}`).toEqual([]);
    expect(touched.size, `seed ${seed}`).toBe(1);
    expect(cluster.api.list(machineConfigPools).map(readTargetConfig)).toEqual([good]);
    expect(new Set(cluster.api.list(nodes).map((node) => annotationsOf(node)[currentConfig]))).toEqual(new Set([good]));
  }
}
