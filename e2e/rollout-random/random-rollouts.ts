// Randomised rollouts on the real API server, side by side: each is a pool of its own.
import { setTimeout as wait } from 'node:timers/promises';
import { type MachineConfigPool, type Node, rolloutPolicyAnnotations, rolloutRequestAnnotation } from '@slipway/api';
import { isHealthy, readTargetConfig } from '@slipway/controllers/testing/simulation';
import { selectPool } from '@slipway/fleet';
import { nodeRole } from '@slipway/testing/builders';
import { startTestCluster } from '@slipway/testing/control-plane';
import { createRandom, type Random } from '@slipway/testing/random';
import { until } from '@slipway/testing/wait';
import { expect } from 'vitest';
import { type LiveFleet, pickOne, ready, startLiveFleet } from './live-fleet.ts';
import { watchFleet } from './live-referee.ts';

const DISTURBED_MS = 12_000;

/** SLIPWAY_SEED has one of them repeated in place of all. */
const only = process.env['SLIPWAY_SEED'];
export const seeds = only === undefined ? Array.from({ length: 20 }, (_, index) => index + 1) : [Number(only)];

/** Never more machines out of service than allowed, and all converge in the end. Each rollout has a seed of its own. */
export async function expectSafeRollouts(seeds: readonly number[]): Promise<void> {
  await using cluster = await startTestCluster();
  const fleet = await startLiveFleet(cluster.operator, seeds[0] ?? 0);
  try {
    await rollOutAll(fleet, seeds);
  } finally {
    await fleet.stop();
  }
}

async function rollOutAll(fleet: LiveFleet, seeds: readonly number[]): Promise<void> {
  const started = performance.now();
  const referee = watchFleet(fleet);
  await fleet.addPool('worker', {}, {});
  await fleet.render('worker');
  await Promise.all(seeds.map((seed) => rollOut(fleet, `random-${seed}`, createRandom(seed))));
  fleet.calmDown();
  for (const pool of fleet.pools.store.values()) await calmDown(fleet, pool);
  await until(() => {
    const late = [...fleet.pools.store.values()].flatMap((pool) =>
      listNodes(fleet, pool.metadata.name).filter((node) => !isHealthy(node, readTargetConfig(pool))),
    );
    expect(late.map(({ metadata }) => [metadata.name, metadata.annotations])).toEqual([]);
  }, 'rollout');
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    `${seeds.length} rollouts on the real API server, seeds ${seeds.join(', ')}, ${referee.given} targets given, ${referee.violations.length} violations, all converge, ${seconds} s`,
  );
  expect(referee.violations).toEqual([]);
  expect(referee.given).toBeGreaterThan(seeds.length);
}

const listNodes = (fleet: LiveFleet, pool: string): Node[] =>
  [...fleet.nodes.store.values()].filter((node) => {
    const chosen = selectPool(node.metadata, fleet.pools.store.values());
    return chosen.ok && chosen.pool === pool;
  });

/** One rollout: a pool of a few machines, and some seconds of trouble. */
async function rollOut(fleet: LiveFleet, pool: string, random: Random): Promise<void> {
  const { waves, onFailure } = rolloutPolicyAnnotations;
  const annotations = {
    [waves]: random.pick(['1,100%', '1,50%,100%', '100%']),
    [onFailure]: random.pick(['halt', 'return']),
  };
  await fleet.addPool(pool, { maxUnavailable: random.pick([1, 2, '50%', '100%']) }, annotations);
  await fleet.render(pool);
  const machines = random.int(2, 5);
  for (let each = 0; each < machines; each += 1) await fleet.addNode(pool, `${pool}-${each}`);
  await fleet.render(pool);
  const events = random.int(2, 6);
  for (let each = 0; each < events; each += 1) {
    await wait(random.int(0, (2 * DISTURBED_MS) / events));
    await disturb(fleet, pool, random, each);
  }
}

interface DisturbanceContext {
  readonly fleet: LiveFleet;
  readonly pool: string;
  readonly node: string;
  readonly random: Random;
  /** How many there were before. */
  readonly count: number;
}

type Disturb = (scene: DisturbanceContext) => Promise<unknown>;

const disturbances: readonly Disturb[] = [
  ({ fleet, pool }) => fleet.render(pool),
  ({ fleet, pool }) => fleet.render(pool, true),
  ({ fleet, pool, random }) => fleet.patchPool(pool, { spec: { paused: random.chance(0.5) } }),
  ({ fleet, pool, random }) => fleet.patchPool(pool, { spec: { maxUnavailable: random.pick([1, 3, '34%']) } }),
  ({ fleet, pool, random }) =>
    fleet.patchPool(pool, {
      metadata: { annotations: { [rolloutRequestAnnotation]: random.pick(['cancel', 'resume', 'rollback']) } },
    }),
  ({ fleet, node, random }) => fleet.patchNode(node, ready(random.chance(0.5)), 'status'),
  ({ fleet, node }) => fleet.removeNode(node),
  ({ fleet, pool, node, count }) => fleet.addNode(pool, `${node}-${count}`),
  // To be a worker like others: there is a pool for them too.
  ({ fleet, pool, node }) => fleet.patchNode(node, { metadata: { labels: { [nodeRole(pool)]: null } } }),
  ({ fleet }) => fleet.restart(),
];

async function disturb(fleet: LiveFleet, pool: string, random: Random, count: number): Promise<void> {
  const node = pickOne(random, listNodes(fleet, pool));
  if (node !== undefined) await random.pick(disturbances)({ fleet, pool, node: node.metadata.name, random, count });
}

/** People put right what they did. */
async function calmDown(fleet: LiveFleet, pool: MachineConfigPool): Promise<void> {
  const { name } = pool.metadata;
  for (const node of listNodes(fleet, name)) await fleet.patchNode(node.metadata.name, ready(true), 'status');
  await fleet.patchPool(name, { spec: { paused: false } });
  if (fleet.isBad(pool.spec.configuration?.name ?? '') || fleet.isBad(readTargetConfig(pool) ?? ''))
    await fleet.render(name);
  await fleet.patchPool(name, { metadata: { annotations: { [rolloutRequestAnnotation]: 'resume' } } });
}
