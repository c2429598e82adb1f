// What people, machines and chance do to a fleet while it changes.
import { machineConfigPools, nodes, rolloutPolicyAnnotations, rolloutRequestAnnotation } from '@slipway/api';
import type { Random } from '@slipway/testing/random';
import { isCordoned, isOnItsWay } from './fleet-rules.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';
import type { Workload } from './simulated-workload.ts';

export interface Simulation {
  readonly cluster: SimulatedCluster;
  readonly workload: Workload | null;
}

type Disturb = (scene: Simulation, random: Random) => void;

export const maxUnavailables = [undefined, 1, 2, 3, '10%', '25%', '50%', '100%'] as const;
export const waves = [undefined, '1,100%', '1,3,50%,100%', '2,100%', '100%'] as const;

const poolNames = ({ cluster }: Simulation): string[] =>
  cluster.api.list(machineConfigPools).map(({ metadata }) => metadata.name);
const nodeNames = ({ cluster }: Simulation): string[] => cluster.api.list(nodes).map(({ metadata }) => metadata.name);

/** Does something to one of the nodes, if there is one left that may be touched. */
function toNode(disturb: (scene: Simulation, name: string, random: Random) => void): Disturb {
  return (scene, random) => {
    const names = nodeNames(scene);
    if (names.length > 1) disturb(scene, random.pick(names), random);
  };
}

/** A person cordons a node, or lets it go. In the middle of an update is when it matters most. */
function cordonOrNot({ cluster }: Simulation, random: Random): void {
  const all = cluster.api.list(nodes);
  const busy = all.filter((node) => isOnItsWay(node) && !isCordoned(node));
  const node = random.pick(busy.length > 0 && random.chance(0.7) ? busy : all);
  // A cordon of ours is not theirs to lift: they would say so first, and that is tested by itself.
  const isOurs = isCordoned(node) && !cluster.referee.isCordonedByPeople(node.metadata.uid);
  if (!isOurs) cluster.cordon(node.metadata.name, !isCordoned(node));
}

/** What a rollout itself is made of: a new config at any time, good or bad, and requests of people. */
const ofRollouts: readonly Disturb[] = [
  (scene, random) => void scene.cluster.render(random.pick(poolNames(scene))),
  (scene, random) => {
    const breaks = { share: random.pick([0.1, 0.5, 1]), end: random.pick(['fails', 'fails', 'is refused'] as const) };
    scene.cluster.render(random.pick(poolNames(scene)), breaks);
  },
  (scene, random) => {
    const request = random.pick(['cancel', 'resume', 'resume', 'rollback']);
    scene.cluster.patchPool(random.pick(poolNames(scene)), {
      metadata: { annotations: { [rolloutRequestAnnotation]: request } },
    });
  },
  ({ cluster }, random) => cluster.restart(random.int(10, 120_000)),
  ({ workload }, random) => workload?.block(random.chance(0.5)),
  (scene, random) => {
    const paused = random.chance(0.5);
    scene.cluster.patchPool(random.pick(poolNames(scene)), { spec: { paused } });
  },
  ({ cluster }, random) => cluster.stopRollouts(random.chance(0.5) ? 'a change freeze' : null),
];

/** What comes from outside: it can take machines out of service, or change how many may be. */
const ofOutside: readonly Disturb[] = [
  toNode(({ cluster }, name) => cluster.removeNode(name)),
  toNode(({ cluster }, name) => cluster.setReady(name, false)),
  toNode(({ cluster }, name) => cluster.setReady(name, true)),
  cordonOrNot,
  cordonOrNot,
  toNode(({ cluster }, name, random) => {
    const isMovable = !/^(master|arbiter)/.test(name);
    const custom = cluster.api.find(machineConfigPools, { name: 'infra' }) !== undefined;
    if (isMovable && custom) cluster.relabel(name, random.pick(['worker', 'infra']));
  }),
  toNode(({ cluster }, name) => {
    // The machine is made anew under its old name.
    const pool = name.replace(/-.*/, '');
    cluster.removeNode(name);
    cluster.addNode(pool, { name });
  }),
  (scene, random) => scene.cluster.addNode(random.pick(poolNames(scene))),
  (scene, random) => {
    const maxUnavailable = random.pick(maxUnavailables) ?? null;
    scene.cluster.patchPool(random.pick(poolNames(scene)), { spec: { maxUnavailable } });
  },
  (scene, random) => {
    const annotations = { [rolloutPolicyAnnotations.waves]: random.pick(waves) ?? null };
    scene.cluster.patchPool(random.pick(poolNames(scene)), { metadata: { annotations } });
  },
];

/** `inside`: nothing that takes machines out of service but the rollout itself. */
export function disturb(scene: Simulation, random: Random, inside: boolean): void {
  random.pick(inside ? ofRollouts : [...ofRollouts, ...ofOutside])(scene, random);
}
