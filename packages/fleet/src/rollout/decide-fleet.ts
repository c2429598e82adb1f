// What becomes of every pool and node. The one place where a pool's rollout is put together with the rest of the fleet: the
// controller that carries it out, the commands that show it and the plan that foresees it all decide here.
import type { MachineConfigPool, MachineConfiguration, Node } from '@slipway/api';
import { rolloutRequestAnnotation, stopRolloutsAnnotation } from '@slipway/api/names';
import { selectPool } from '../pool-membership.ts';
import { formatProblem } from '../problems.ts';
import { type RolloutDecision } from './facts.ts';
import { decideRollout } from './decide-rollout.ts';
import type { NodeFacts, PoolFacts, RolloutRecord, RolloutRequest } from './facts.ts';
import { isUnavailable } from './node-state.ts';
import { readNodeFacts, readPoolFacts } from './read-facts.ts';
import { isControlPlanePool } from '../pool-membership.ts';

/** One pool, and the machines of all pools: what happens to it depends on some of theirs. */
export interface PoolInFleet extends Pick<RolloutRequest, 'now' | 'pool' | 'stopped' | 'ownNode'> {
  /** By pool, this one and every other. */
  readonly members: ReadonlyMap<string, readonly NodeFacts[]>;
}

export const decidePool = (request: PoolInFleet): RolloutDecision => decideRollout(buildRolloutRequest(request));

/** What `decideRollout` decides on, with what counts of the other pools. */
export function buildRolloutRequest({ members, ...request }: PoolInFleet): RolloutRequest {
  const { name, isControlPlane } = request.pool;
  const others = [...members].filter(([other]) => other !== name);
  // Masters and arbiters hold etcd together: one of all of them at a time.
  const controlPlane = isControlPlane ? others.filter(([other]) => isControlPlanePool(other)) : [];
  return {
    ...request,
    nodes: members.get(name) ?? [],
    otherControlPlaneOut: controlPlane.flatMap(([, nodes]) => nodes.filter(isUnavailable)).map((node) => node.name),
    elsewhere: others.flatMap(([, nodes]) => nodes),
  };
}

export interface DecidedPool {
  readonly name: string;
  readonly facts: PoolFacts;
  /** What of its annotations cannot be understood, for people. */
  readonly problems: readonly string[];
  /** What a person asked for and nobody has answered yet. */
  readonly request: string | null;
  readonly nodes: readonly NodeFacts[];
  readonly decision: RolloutDecision;
  readonly history: readonly RolloutRecord[];
}

/** One that no pool has, or that two want. */
export interface NodeOutside {
  readonly name: string;
  readonly code: string;
  readonly message: string;
}

export interface DecidedFleet {
  readonly pools: readonly DecidedPool[];
  readonly outside: readonly NodeOutside[];
  /** Why the fleet-wide switch is on; null: it is off. */
  readonly stopped: string | null;
}

export interface FleetObjects {
  readonly pools: readonly MachineConfigPool[];
  readonly nodes: readonly Node[];
  /** The one named `cluster`; undefined: nobody has made it. */
  readonly machineConfiguration: MachineConfiguration | undefined;
}

export function decideFleet({ pools, nodes, machineConfiguration }: FleetObjects, now: number): DecidedFleet {
  const stopped = stoppedBy(machineConfiguration);
  const { members, outside } = assignNodes(nodes, pools);
  return {
    pools: pools.map((pool) => {
      const { pool: facts, history, problems } = readPoolFacts(pool);
      return {
        name: facts.name,
        facts,
        problems: problems.map(formatProblem),
        request: pool.metadata.annotations?.[rolloutRequestAnnotation] ?? null,
        nodes: members.get(facts.name) ?? [],
        // Where the controller runs is not known here: its own node may be named earlier than it has its turn.
        decision: decidePool({ now, pool: facts, members, stopped, ownNode: null }),
        history,
      };
    }),
    outside,
    stopped,
  };
}

/** Why nothing is given to any machine of the fleet; null: the switch is off. */
export const stoppedBy = (cluster: MachineConfiguration | undefined): string | null =>
  cluster?.metadata.annotations?.[stopRolloutsAnnotation] ?? null;

/** Puts every node with its pool, and gives back those that have none. */
function assignNodes(
  nodes: readonly Node[],
  pools: readonly MachineConfigPool[],
): { members: ReadonlyMap<string, readonly NodeFacts[]>; outside: NodeOutside[] } {
  const members = new Map<string, NodeFacts[]>(pools.map(({ metadata }) => [metadata.name, []]));
  const outside: NodeOutside[] = [];
  for (const node of nodes) {
    const chosen = selectPool(node.metadata, pools);
    if (chosen.ok) members.get(chosen.pool)?.push(readNodeFacts(node));
    else outside.push({ name: node.metadata.name, code: chosen.code, message: chosen.message });
  }
  return { members, outside };
}
