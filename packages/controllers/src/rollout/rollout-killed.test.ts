import { nodeAnnotations, nodes } from '@slipway/api';
import { resourceId } from '@slipway/kube';
import { expect, it } from 'vitest';
import { drainController } from '../drain/controller.ts';
import { annotationsOf } from '../testing/simulation/fleet-rules.ts';
import { untilConverged } from '../testing/simulation/rollout-scenario.ts';
import { createCluster } from '../testing/simulation/simulated-cluster.ts';
import { startWorkload } from '../testing/simulation/simulated-workload.ts';
import type { Fate } from '../testing/simulation/wire.ts';
import { rolloutController } from './controller.ts';

const MACHINES = 3;
const HOUR = 3_600_000;
const { desiredConfig, lastAppliedDrain } = nodeAnnotations;

interface KilledRollout {
  /** Writes of the controllers, from the new config to the end. */
  readonly writes: number;
  readonly starts: number;
  readonly violations: readonly string[];
  /** How often each machine was assigned the new config, and was drained for it. */
  readonly given: readonly number[];
  readonly drained: readonly number[];
}

/** Three machines with pods are drained, updated and rebooted. At one write of the controllers their process dies. */
async function rollOut(killAt: number, how: Fate): Promise<KilledRollout> {
  let isUnderWay = false;
  let writes = 0;
  const cluster = createCluster({
    seed: 7,
    controllers: () => [rolloutController(), drainController()],
    changeOf: () => ({ isEmpty: false, needsDrain: true, reboots: true, end: 'works' }),
    fateOf: () => {
      if (!isUnderWay) return 'lands';
      writes += 1;
      return writes === killAt ? how : 'lands';
    },
  });
  const { api, time, random, referee } = cluster;
  cluster.addPool('worker', { maxUnavailable: 2 });
  cluster.render('worker');
  for (let each = 0; each < MACHINES; each += 1) cluster.addNode('worker', { isSettled: true });
  startWorkload(api, time, random.fork(), MACHINES);
  await time.runUntil(time.now() + HOUR);
  const target = cluster.render('worker');
  isUnderWay = true;
  const given = new Map<string, number>();
  const drained = new Map<string, number>();
  api.onChange(({ resource, object, old }) => {
    if (resourceId(resource) !== resourceId(nodes) || old === undefined) return;
    const count = (counts: Map<string, number>, annotation: string, value: string): void => {
      if (annotationsOf(object)[annotation] !== value || annotationsOf(old)[annotation] === value) return;
      counts.set(object.metadata.name, (counts.get(object.metadata.name) ?? 0) + 1);
    };
    count(given, desiredConfig, target);
    count(drained, lastAppliedDrain, `drain-${target}`);
  });
  await untilConverged(cluster);
  return {
    writes,
    starts: cluster.starts,
    violations: referee.violations,
    given: [...given.values()],
    drained: [...drained.values()],
  };
}

const once = Array.from({ length: MACHINES }, () => 1);

it('controllers killed between any two of their writes continue: no machine is lost, none is drained twice', async () => {
  const whole = await rollOut(0, 'lands');
  expect(whole).toMatchObject({ starts: 1, violations: [], given: once, drained: once });
  for (let write = 1; write <= whole.writes; write += 1) {
    for (const how of ['dies before', 'dies after'] as const) {
      const outcome = await rollOut(write, how);
      expect(outcome, `killed at write ${write}: ${how}`).toMatchObject({
        starts: 2,
        violations: [],
        given: once,
        drained: once,
      });
    }
  }
  console.log(`${whole.writes} writes, killed before and after each: converges, every machine drained once`);
}, 600_000);
