// Decides every pool and node. The one place where a pool's rollout meets the rest of the fleet: the controller that
// executes it, the commands that show it and the plan that simulates it all decide here.
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

/** One pool, and the nodes of all pools: its decision depends on some nodes of other pools. */
export interface PoolInFleet extends Pick<RolloutRequest, 'now' | 'pool' | 'stopped' | 'ownNode'> {
  /** By pool, including this one. */
  readonly members: ReadonlyMap<string, readonly NodeFacts[]>;
}

export const decidePool = (request: PoolInFleet): RolloutDecision => decideRollout(buildRolloutRequest(request));

/** The input of `decideRollout`, with the nodes of other pools that matter. */
export function buildRolloutRequest({ members, ...request }: PoolInFleet): RolloutRequest {
  const { name, isControlPlane } = request.pool;
  const others = [...members].filter(([other]) => other !== name);
  // Masters and arbiters share etcd: one at a time across their pools.
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
  /** Human-readable problems of its settings. */
  readonly problems: readonly string[];
  /** A user request that the controller has not answered yet. */
  readonly request: string | null;
  readonly nodes: readonly NodeFacts[];
  readonly decision: RolloutDecision;
  readonly history: readonly RolloutRecord[];
}

/** A node that no pool selects, or more than one custom pool. */
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
  /** The one named `cluster`; undefined: it does not exist. */
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
        // The controller's node is not known here, so it may appear earlier in the order than the controller updates
        // it.
        decision: decidePool({ now, pool: facts, members, stopped, ownNode: null }),
        history,
      };
    }),
    outside,
    stopped,
  };
}

/** Why rollouts are stopped for the whole fleet; null: they are not. */
export const stoppedBy = (cluster: MachineConfiguration | undefined): string | null =>
  cluster?.metadata.annotations?.[stopRolloutsAnnotation] ?? null;

/** Groups the nodes by pool, and returns those without one. */
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
