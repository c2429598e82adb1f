// One randomised rollout, from its seed to its end: hours of disturbances, then quiet, in which every machine must
// reach its target and stay there.
import {
  type MachineConfigPool,
  machineConfigPools,
  nodeAnnotations,
  nodes,
  rolloutPolicyAnnotations,
  rolloutRequestAnnotation,
  targetConfigAnnotation,
} from '@slipway/api';
import { selectPool } from '@slipway/fleet';
import { type ControllerDef, resourceId } from '@slipway/kube';
import type { Random } from '@slipway/testing/random';
import { disturb, maxUnavailables, type Simulation, waves } from './disturbance.ts';
import {
  computeMaxUnavailable,
  annotationsOf,
  isCordoned,
  isReady,
  isUnavailable,
  isHealthy,
  readTargetConfig,
} from './fleet-rules.ts';
import { createCluster, type SimulatedCluster } from './simulated-cluster.ts';
import { startWorkload } from './simulated-workload.ts';
import type { Fate } from './wire.ts';

export interface ScenarioResult {
  readonly seed: number;
  /** Changes that the referee checked. */
  readonly changes: number;
  /** Targets that were assigned to machines. */
  readonly given: number;
  readonly violations: readonly string[];
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const WARM_UP = HOUR;
/** Long enough for soaks and halts, too short for thousands of retries. */
const MAX_DURATION_MS = 14 * 24 * HOUR;

export async function runScenario(seed: number, controllers: () => readonly ControllerDef[]): Promise<ScenarioResult> {
  const simulation = createSimulation(seed, controllers);
  const { cluster } = simulation;
  const { time, random, referee, api } = cluster;
  const inside = seed % 4 === 0;
  let given = 0;
  api.onChange(({ resource, object, old }) => {
    if (resourceId(resource) !== resourceId(nodes)) return;
    const desired = object.metadata.annotations?.[nodeAnnotations.desiredConfig];
    if (desired !== old?.metadata.annotations?.[nodeAnnotations.desiredConfig]) given += 1;
  });
  await time.runUntil(time.now() + WARM_UP);
  if (inside) api.onChange(() => checkAlways(cluster));
  await trouble(simulation, random.int(2, 15), inside);
  calmDown(simulation);
  // The latest request or config takes effect first.
  await time.runUntil(time.now() + HOUR);
  goOn(cluster);
  await untilConverged(cluster);
  return { seed, changes: referee.changes, given, violations: referee.violations };
}

/** A new config, and then one disturbance after another, mostly while the rollout is in progress. */
async function trouble(simulation: Simulation, count: number, inside: boolean): Promise<void> {
  const { random, time, render } = simulation.cluster;
  render('worker');
  for (let each = 0; each < count; each += 1) {
    const pause = random.chance(0.7) ? random.int(0, 5 * MINUTE) : random.int(0, HOUR);
    await time.runUntil(time.now() + pause);
    disturb(simulation, random, inside);
  }
}

function createSimulation(seed: number, controllers: () => readonly ControllerDef[]): Simulation {
  const lag = seed % 3;
  const cluster = createCluster({
    seed,
    controllers,
    stuckShare: 0.05,
    fateOf: () => drawFate(cluster.random, seed),
    lagMs: (random) => {
      if (lag === 0) return random.int(1, 50);
      return lag === 2 && random.chance(0.05) ? random.int(1, 10 * MINUTE) : random.int(1, 2000);
    },
  });
  const { random } = cluster;
  addPool(cluster, 'worker', random.int(2, 8));
  if (random.chance(0.4)) addPool(cluster, 'infra', random.int(1, 4));
  if (random.chance(0.3)) addPool(cluster, 'master', 3);
  if (random.chance(0.1)) addPool(cluster, 'arbiter', 1);
  const workload = random.chance(0.3)
    ? startWorkload(cluster.api, cluster.time, random.fork(), random.int(2, 10))
    : null;
  return { cluster, workload };
}

function addPool(cluster: SimulatedCluster, pool: string, machines: number): void {
  const { random } = cluster;
  const { waves: sizes, soak, onFailure, hold } = rolloutPolicyAnnotations;
  const drawn: Record<string, string | undefined> = {
    [sizes]: random.pick(waves),
    [soak]: random.pick([undefined, undefined, '5m', '45m']),
    [onFailure]: random.pick([undefined, 'halt', 'return']),
    [hold]: random.pick([undefined, undefined, 'until-resume']),
  };
  const annotations = Object.fromEntries(
    Object.entries(drawn).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const maxUnavailable = random.pick(maxUnavailables);
  cluster.addPool(pool, maxUnavailable === undefined ? {} : { maxUnavailable }, annotations);
  cluster.render(pool);
  for (let each = 0; each < machines; each += 1)
    cluster.addNode(pool, { zone: random.pick([undefined, 'a', 'b', 'c']) });
}

/** In a tenth of the seeds every third write fails. */
function drawFate(random: Random, seed: number): Fate {
  const draw = random.next() * (seed % 10 === 1 ? 1 : 10);
  if (draw < 0.1) return 'is refused';
  if (draw < 0.15) return 'unknown, landed';
  if (draw < 0.2) return 'unknown, lost';
  if (draw < 0.25) return 'dies before';
  return draw < 0.3 ? 'dies after' : 'lands';
}

/** Without external events, no moment may have more machines unavailable than allowed, whatever the reason. */
function checkAlways({ api, referee }: SimulatedCluster): void {
  const pools = api.list(machineConfigPools);
  for (const pool of pools) {
    const { name } = pool.metadata;
    const members = listMembers({ api }, name);
    const out = members.filter(isUnavailable).map(({ metadata }) => metadata.name);
    const allowed = computeMaxUnavailable(pool, members.length);
    if (out.length > allowed) referee.report(`${name}: ${out.join(', ')} are unavailable, ${allowed} may be`);
  }
}

function listMembers({ api }: Pick<SimulatedCluster, 'api'>, pool: string) {
  const pools = api.list(machineConfigPools);
  return api.list(nodes).filter((node) => {
    const chosen = selectPool(node.metadata, pools);
    return chosen.ok && chosen.pool === pool;
  });
}

/** Ends external events, and users undo what they did. */
function calmDown({ cluster, workload }: Simulation): void {
  const { api, referee } = cluster;
  cluster.calmDown();
  cluster.stopRollouts(null);
  workload?.block(false);
  cluster.resetMachines();
  for (const node of api.list(nodes)) {
    if (!isReady(node)) cluster.setReady(node.metadata.name, true);
    cluster.drift(node.metadata.name, false);
    if (referee.isCordonedByPeople(node.metadata.uid)) cluster.cordon(node.metadata.name, false);
  }
  for (const { metadata } of api.list(machineConfigPools))
    cluster.patchPool(metadata.name, { spec: { paused: false } });
}

/** Leaves some pools held at a good config. */
function goOn(cluster: SimulatedCluster): void {
  for (const pool of cluster.api.list(machineConfigPools)) {
    const held = pool.metadata.annotations?.[targetConfigAnnotation];
    const isLeftAsItIs = held !== undefined && !cluster.isBad(held) && cluster.random.chance(0.5);
    if (!isLeftAsItIs) resume(cluster, pool);
  }
}

/** Replaces bad configs, and resumes held or halted pools. */
function resume(cluster: SimulatedCluster, pool: MachineConfigPool): void {
  const { name } = pool.metadata;
  const configs = [pool.spec.configuration?.name, readTargetConfig(pool)];
  if (configs.some((config) => config !== undefined && cluster.isBad(config))) cluster.render(name);
  cluster.patchPool(name, { metadata: { annotations: { [rolloutRequestAnnotation]: 'resume' } } });
}

/** Runs until every machine has its target, and for a while longer. Reports deviations. */
export async function untilConverged(cluster: SimulatedCluster): Promise<void> {
  const { time, referee } = cluster;
  const end = time.now() + MAX_DURATION_MS;
  while (laggards(cluster).length > 0 && time.now() < end) await time.runUntil(time.now() + 10 * MINUTE);
  const late = laggards(cluster);
  if (late.length > 0) return referee.report(`did not converge: ${late.slice(0, 5).join('; ')}`);
  await time.runUntil(time.now() + 2 * HOUR);
  const left = laggards(cluster);
  if (left.length > 0) referee.report(`did not stay where it was: ${left.slice(0, 5).join('; ')}`);
}

/** Deviations: unanswered requests, and machines with what they report. */
function laggards({ api }: SimulatedCluster): string[] {
  return api.list(machineConfigPools).flatMap((pool) => {
    const request = pool.metadata.annotations?.[rolloutRequestAnnotation];
    if (request !== undefined) return [`${pool.metadata.name} has no answer to ${request}`];
    return listMembers({ api }, pool.metadata.name)
      .filter((node) => !isHealthy(node, readTargetConfig(pool)))
      .map((node) => {
        const is = `ready ${isReady(node)}, cordoned ${isCordoned(node)}, ${JSON.stringify(annotationsOf(node))}`;
        return `${node.metadata.name} is not at ${readTargetConfig(pool)}: ${is}`;
      });
  });
}
