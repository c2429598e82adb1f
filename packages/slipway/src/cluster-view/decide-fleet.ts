// What becomes of every pool and node, by the same decision that the rollout controller carries out.
import { type MachineConfigPool, rolloutRequestAnnotation, stopRolloutsAnnotation } from '@slipway/api';
import {
  chooseNodes,
  isUnavailable,
  type NodeFacts,
  nodeFactsOf,
  type PoolFacts,
  poolFactsOf,
  poolOf,
  type RolloutDecision,
  type RolloutRecord,
} from '@slipway/fleet';
import type { FleetNow } from './fleet-now.ts';

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

interface Known extends Omit<DecidedPool, 'decision'> {
  readonly nodes: NodeFacts[];
}

export function decideFleet(fleet: FleetNow, now: number): DecidedFleet {
  const stopped = fleet.machineConfiguration?.metadata.annotations?.[stopRolloutsAnnotation] ?? null;
  const known = fleet.pools.map(knownOf);
  const outside = assignNodes(fleet, known);
  const out = known.map(({ facts, nodes }) => (facts.isControlPlane ? nodes.filter(isUnavailable) : []));
  const pools: DecidedPool[] = [];
  for (const [index, pool] of known.entries()) {
    const { facts, nodes } = pool;
    const others = facts.isControlPlane ? out.filter((_, other) => other !== index).flat() : [];
    const otherControlPlaneOut = others.map(({ name }) => name);
    const elsewhere = known.flatMap((other) => (other === pool ? [] : other.nodes));
    // Where the controller runs is not known here: its own node may be named earlier than it has its turn.
    const decision = chooseNodes({ now, pool: facts, nodes, stopped, otherControlPlaneOut, elsewhere, ownNode: null });
    pools.push({ ...pool, decision });
  }
  return { pools, outside, stopped };
}

function knownOf(pool: MachineConfigPool): Known {
  const { pool: facts, history, problems } = poolFactsOf(pool);
  return {
    name: facts.name,
    facts,
    problems: problems.map(({ code, message }) => `${message} [${code}]`),
    request: pool.metadata.annotations?.[rolloutRequestAnnotation] ?? null,
    nodes: [],
    history,
  };
}

/** Puts every node with its pool, and gives back those that have none. */
function assignNodes({ nodes, pools }: FleetNow, known: readonly Known[]): NodeOutside[] {
  const byPool = new Map(known.map((each) => [each.facts.name, each.nodes]));
  const outside: NodeOutside[] = [];
  for (const node of nodes) {
    const chosen = poolOf(node.metadata, pools);
    if (chosen.ok) byPool.get(chosen.pool)?.push(nodeFactsOf(node));
    else outside.push({ name: node.metadata.name, code: chosen.code, message: chosen.message });
  }
  return outside;
}
