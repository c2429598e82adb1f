// Twenty of the randomised rollouts on the real API server, side by side: each is a pool of its own.
import {
  type MachineConfigPool,
  machineConfigPools,
  type Node,
  rolloutPolicyAnnotations,
  rolloutRequestAnnotation,
} from '@slipway/api';
import { isWell, targetOf } from '@slipway/controllers/testing/simulation';
import { poolOf } from '@slipway/fleet';
import { until } from '@slipway/testing/wait';
import { nodeRole } from '@slipway/testing/builders';
import { createRandom, type Random } from '@slipway/testing/random';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '@slipway/testing/control-plane';
import { type LiveFleet, pickOne, ready, startLiveFleet } from './rollout-random/live-fleet.ts';
import { watchFleet } from './rollout-random/live-referee.ts';

const SEED = Number(process.env.SLIPWAY_SEED ?? 1);
const ROLLOUTS = 20;
const DISTURBED_MS = 12_000;

let cluster: TestCluster;
let fleet: LiveFleet;

beforeAll(async () => {
  cluster = await startTestCluster();
  fleet = await startLiveFleet(cluster.operator, SEED);
}, 120_000);
afterAll(async () => {
  await fleet?.stop();
  await cluster?.stop();
}, 60_000);

const nodesOf = (pool: string): Node[] =>
  [...fleet.nodes.store.values()].filter((node) => {
    const chosen = poolOf(node.metadata, fleet.pools.store.values());
    return chosen.ok && chosen.pool === pool;
  });

/** One rollout: a pool of a few machines, and some seconds of trouble. */
async function rollOut(pool: string, random: Random): Promise<void> {
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
    await disturb(pool, random, each);
  }
}

type Disturb = (pool: string, node: string, random: Random, count: number) => Promise<unknown>;

const disturbances: readonly Disturb[] = [
  (pool) => fleet.render(pool),
  (pool) => fleet.render(pool, true),
  (pool, _, random) => fleet.patchPool(pool, { spec: { paused: random.chance(0.5) } }),
  (pool, _, random) => fleet.patchPool(pool, { spec: { maxUnavailable: random.pick([1, 3, '34%']) } }),
  (pool, _, random) =>
    fleet.patchPool(pool, {
      metadata: { annotations: { [rolloutRequestAnnotation]: random.pick(['cancel', 'resume', 'rollback']) } },
    }),
  (_, node, random) => fleet.patchNode(node, ready(random.chance(0.5)), 'status'),
  (_, node) => fleet.removeNode(node),
  (pool, node, _, count) => fleet.addNode(pool, `${node}-${count}`),
  // To be a worker like others: there is a pool for them too.
  (pool, node) => fleet.patchNode(node, { metadata: { labels: { [nodeRole(pool)]: null } } }),
  () => fleet.restart(),
];

async function disturb(pool: string, random: Random, count: number): Promise<void> {
  const node = pickOne(random, nodesOf(pool));
  if (node !== undefined) await random.pick(disturbances)(pool, node.metadata.name, random, count);
}

/** People put right what they did. */
async function calmDown(pool: MachineConfigPool): Promise<void> {
  const { name } = pool.metadata;
  for (const node of nodesOf(name)) await fleet.patchNode(node.metadata.name, ready(true), 'status');
  await fleet.patchPool(name, { spec: { paused: false } });
  if (fleet.isBad(pool.spec.configuration?.name ?? '') || fleet.isBad(targetOf(pool) ?? '')) await fleet.render(name);
  await fleet.patchPool(name, { metadata: { annotations: { [rolloutRequestAnnotation]: 'resume' } } });
}

it(`${ROLLOUTS} randomised rollouts on the real API server: never more machines out of service than allowed, all converge`, async () => {
  const started = performance.now();
  const referee = watchFleet(fleet);
  await fleet.addPool('worker', {}, {});
  await fleet.render('worker');
  const names = Array.from({ length: ROLLOUTS }, (_, each) => `random-${SEED + each}`);
  await Promise.all(names.map((name, each) => rollOut(name, createRandom(SEED + each))));
  fleet.calmDown();
  for await (const pool of cluster.operator.list(machineConfigPools)) await calmDown(pool);
  await until(() => {
    const late = [...fleet.pools.store.values()].flatMap((pool) =>
      nodesOf(pool.metadata.name).filter((node) => !isWell(node, targetOf(pool))),
    );
    expect(late.map(({ metadata }) => [metadata.name, metadata.annotations])).toEqual([]);
  }, 'rollout');
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    `${ROLLOUTS} rollouts on the real API server, seeds ${SEED}–${SEED + ROLLOUTS - 1}, ${referee.given} targets given, ${referee.violations.length} violations, all converge, ${seconds} s`,
  );
  expect(referee.violations).toEqual([]);
  expect(referee.given).toBeGreaterThan(ROLLOUTS);
}, 180_000);
