// What users, machines and chance do to a fleet during a rollout.
import { machineConfigPools, nodes, rolloutPolicyAnnotations, rolloutRequestAnnotation } from '@slipway/api';
import type { Random } from '@slipway/testing/random';
import { isCordoned, isUpdating } from './fleet-rules.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';
import type { Workload } from './simulated-workload.ts';

export interface Simulation {
  readonly cluster: SimulatedCluster;
  readonly workload: Workload | null;
}

type Disturb = (simulation: Simulation, random: Random) => void;

export const maxUnavailables = [undefined, 1, 2, 3, '10%', '25%', '50%', '100%'] as const;
export const waves = [undefined, '1,100%', '1,3,50%,100%', '2,100%', '100%'] as const;

const poolNames = ({ cluster }: Simulation): string[] =>
  cluster.api.list(machineConfigPools).map(({ metadata }) => metadata.name);
const nodeNames = ({ cluster }: Simulation): string[] => cluster.api.list(nodes).map(({ metadata }) => metadata.name);

/** Disturbs one of the nodes, if one is left that may be touched. */
function toNode(disturb: (simulation: Simulation, name: string, random: Random) => void): Disturb {
  return (simulation, random) => {
    const names = nodeNames(simulation);
    if (names.length > 1) disturb(simulation, random.pick(names), random);
  };
}

/** A user cordons or uncordons a node. This matters most in the middle of an update. */
function cordonOrNot({ cluster }: Simulation, random: Random): void {
  const all = cluster.api.list(nodes);
  const busy = all.filter((node) => isUpdating(node) && !isCordoned(node));
  const node = random.pick(busy.length > 0 && random.chance(0.7) ? busy : all);
  // Users do not lift our cordons here: that case has a separate test.
  const isOurs = isCordoned(node) && !cluster.referee.isCordonedByPeople(node.metadata.uid);
  if (!isOurs) cluster.cordon(node.metadata.name, !isCordoned(node));
}

/** The elements of a rollout: new configs at any time, good or bad, and requests of users. */
const ofRollouts: readonly Disturb[] = [
  (simulation, random) => void simulation.cluster.render(random.pick(poolNames(simulation))),
  (simulation, random) => {
    const breaks = { share: random.pick([0.1, 0.5, 1]), end: random.pick(['fails', 'fails', 'is refused'] as const) };
    simulation.cluster.render(random.pick(poolNames(simulation)), breaks);
  },
  (simulation, random) => {
    const request = random.pick(['cancel', 'resume', 'resume', 'rollback']);
    simulation.cluster.patchPool(random.pick(poolNames(simulation)), {
      metadata: { annotations: { [rolloutRequestAnnotation]: request } },
    });
  },
  ({ cluster }, random) => cluster.restart(random.int(10, 120_000)),
  ({ workload }, random) => workload?.block(random.chance(0.5)),
  (simulation, random) => {
    const paused = random.chance(0.5);
    simulation.cluster.patchPool(random.pick(poolNames(simulation)), { spec: { paused } });
  },
  ({ cluster }, random) => cluster.stopRollouts(random.chance(0.5) ? 'a change freeze' : null),
];

/** External events: they can make machines unavailable, or change how many may be. */
const ofOutside: readonly Disturb[] = [
  toNode(({ cluster }, name) => cluster.removeNode(name)),
  toNode(({ cluster }, name) => cluster.setReady(name, false)),
  toNode(({ cluster }, name) => cluster.setReady(name, true)),
  cordonOrNot,
  cordonOrNot,
  toNode(({ cluster }, name) => cluster.drift(name, true)),
  toNode(({ cluster }, name) => cluster.drift(name, true)),
  toNode(({ cluster }, name) => cluster.drift(name, false)),
  toNode(({ cluster }, name, random) => {
    const isMovable = !/^(master|arbiter)/.test(name);
    const custom = cluster.api.find(machineConfigPools, { name: 'infra' }) !== undefined;
    if (isMovable && custom) cluster.relabel(name, random.pick(['worker', 'infra']));
  }),
  toNode(({ cluster }, name) => {
    // The machine is recreated under its old name.
    const pool = name.replace(/-.*/, '');
    cluster.removeNode(name);
    cluster.addNode(pool, { name });
  }),
  (simulation, random) => simulation.cluster.addNode(random.pick(poolNames(simulation))),
  (simulation, random) => {
    const maxUnavailable = random.pick(maxUnavailables) ?? null;
    simulation.cluster.patchPool(random.pick(poolNames(simulation)), { spec: { maxUnavailable } });
  },
  (simulation, random) => {
    const annotations = { [rolloutPolicyAnnotations.waves]: random.pick(waves) ?? null };
    simulation.cluster.patchPool(random.pick(poolNames(simulation)), { metadata: { annotations } });
  },
];

/** `inside`: nothing but the rollout makes machines unavailable. */
export function disturb(simulation: Simulation, random: Random, inside: boolean): void {
  random.pick(inside ? ofRollouts : [...ofRollouts, ...ofOutside])(simulation, random);
}
