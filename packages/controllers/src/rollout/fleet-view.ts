// Which nodes are in which pool, and what is known of each: worked out once for each version of an object.
import { machineConfigPools, nodes } from '@slipway/api';
import type { MachineConfigPool, Node } from '@slipway/api';
import { type ChosenPool, type NodeFacts, nodeFactsOf, poolOf } from '@slipway/fleet';
import type { Read, Stored } from '@slipway/kube';

export interface Member {
  readonly node: Stored<Node>;
  readonly facts: NodeFacts;
}

export interface FleetView {
  membersOf(pool: string): readonly Member[];
  /** Nodes in no pool, and why. */
  homeless(): readonly { readonly node: Stored<Node>; readonly why: ChosenPool & { ok: false } }[];
}

interface Known {
  readonly chosen: ChosenPool;
  readonly facts: NodeFacts;
}

export interface FleetViews {
  view(read: Read): FleetView;
  poolOf(node: Stored<Node>, read: Read): string | undefined;
  /** Whether pools select other nodes than when this was asked last: then nodes have moved between them. */
  hasMoved(read: Read): boolean;
}

export function createFleetViews(): FleetViews {
  let selectors = '';
  let known = new WeakMap<Stored<Node>, Known>();

  let asked = '';

  /** What was worked out holds for as long as no pool selects other nodes. */
  function refresh(pools: Iterable<Stored<MachineConfigPool>>): void {
    const now = selectorsOf(pools);
    if (now === selectors) return;
    selectors = now;
    known = new WeakMap();
  }

  function look(node: Stored<Node>, pools: readonly Stored<MachineConfigPool>[]): Known {
    const before = known.get(node);
    if (before !== undefined) return before;
    const made = { chosen: poolOf(node.metadata, pools), facts: nodeFactsOf(node) };
    known.set(node, made);
    return made;
  }

  const poolsOf = (read: Read): Stored<MachineConfigPool>[] => {
    const pools = [...read(machineConfigPools).values()];
    refresh(pools);
    return pools;
  };

  return {
    view(read) {
      const pools = poolsOf(read);
      const members = new Map<string, Member[]>(pools.map(({ metadata }) => [metadata.name, []]));
      const homeless: { node: Stored<Node>; why: ChosenPool & { ok: false } }[] = [];
      for (const node of read(nodes).values()) {
        const { chosen, facts } = look(node, pools);
        if (chosen.ok) members.get(chosen.pool)?.push({ node, facts });
        else homeless.push({ node, why: chosen });
      }
      return { membersOf: (pool) => members.get(pool) ?? [], homeless: () => homeless };
    },
    hasMoved(read) {
      const before = asked;
      asked = selectorsOf(read(machineConfigPools).values());
      return asked !== before;
    },
    poolOf(node, read) {
      const { chosen } = look(node, poolsOf(read));
      return chosen.ok ? chosen.pool : undefined;
    },
  };
}

const selectorsOf = (pools: Iterable<Stored<MachineConfigPool>>): string =>
  JSON.stringify([...pools].map(({ metadata, spec }) => [metadata.name, spec.nodeSelector]));
