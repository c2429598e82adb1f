import { expect, it } from 'vitest';
import { drainController } from '../drain/controller.ts';
import { untilConverged } from '../testing/simulation/rollout-scenario.ts';
import { createCluster } from '../testing/simulation/simulated-cluster.ts';
import { rolloutController } from './controller.ts';

const RUNS = 15;
const MINUTE = 60_000;
const ZONES = ['a', 'b', 'c'];

/**
 * Views that lag by seconds, and pools that change several times a second: each decision is based on a view that does
 * not show the targets of the previous one.
 */
async function rollOutUnseen(seed: number): Promise<readonly string[]> {
  const cluster = createCluster({
    seed,
    controllers: () => [rolloutController(), drainController()],
    lagMs: (random) => random.int(1, 5000),
  });
  const { time, random } = cluster;
  const pools = { worker: 8, master: 3, arbiter: 1 };
  for (const [pool, machines] of Object.entries(pools)) {
    cluster.addPool(pool, pool === 'worker' ? { maxUnavailable: 3 } : {});
    cluster.render(pool);
    for (let each = 0; each < machines; each += 1) cluster.addNode(pool, { zone: random.pick(ZONES), isSettled: true });
  }
  await time.runUntil(time.now() + MINUTE);
  for (const pool of Object.keys(pools)) cluster.render(pool);
  const end = time.now() + 5 * MINUTE;
  while (time.now() < end) {
    await time.runUntil(time.now() + random.int(10, 300));
    cluster.patchPool(random.pick(Object.keys(pools)), { metadata: { labels: { at: String(time.now()) } } });
  }
  cluster.calmDown();
  await untilConverged(cluster);
  return cluster.referee.violations;
}

it('a rollout counts the machines that it made unavailable, even if its view does not show them yet', async () => {
  for (let seed = 1; seed <= RUNS; seed += 1) expect(await rollOutUnseen(seed), `seed ${seed}`).toEqual([]);
}, 600_000);
