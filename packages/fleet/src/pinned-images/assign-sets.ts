import { type AssignedSet, MAX_SETS, type PinAssignment } from './assignment.ts';
import { holds, isSetAssigned, type PinNode, type PinPool } from './pin-facts.ts';
import { chooseTurns } from './turns.ts';

// The assignment of every machine: the sets of all its pools, and whether it may pull now.

export interface Assignments {
  /** By machine; only those whose assignment changes. */
  readonly changed: ReadonlyMap<string, PinAssignment>;
  /** When slots rotate even if nothing else changes; null: never. */
  readonly lookAgainAt: number | null;
}

/** Control planes have other work to do. */
const PARALLEL = { worker: 5, controlPlane: 2 } as const;

export function assignSets(nodes: readonly PinNode[], pools: ReadonlyMap<string, PinPool>, now: number): Assignments {
  const wanted = nodes.map((node) => ({ node, sets: collectSets(node, pools).sets }));
  const { turns, lookAgainAt } = chooseTurns(
    wanted.map(({ node, sets }) => ({
      ...node,
      lacks: new Set(sets.filter((set) => !holds(node, set)).map(({ name }) => name)),
      hasTurn: node.told?.mayPull === true && isSame(node.told.sets, sets),
    })),
    pools,
    now,
  );
  const changed = new Map<string, PinAssignment>();
  for (const { node, sets } of wanted) {
    // Even without images: from then on it reports its free space, and a user can see what would fit.
    const next: PinAssignment = {
      sets: sets.filter((set) => mayBeAssigned(node, set)),
      mayPull: turns.has(node.name),
      parallel: node.pools.some((pool) => pools.get(pool)?.isControlPlane === true)
        ? PARALLEL.controlPlane
        : PARALLEL.worker,
    };
    if (!isSameAssignment(node.told, next)) changed.set(node.name, next);
  }
  return { changed, lookAgainAt };
}

/** The sets of all its pools, by name. Those beyond the limit of its status are dropped. */
export function collectSets(
  { pools: names }: Pick<PinNode, 'pools'>,
  pools: ReadonlyMap<string, PinPool>,
): { readonly sets: readonly AssignedSet[]; readonly leftOut: number } {
  const byName = new Map(names.flatMap((name) => pools.get(name)?.sets ?? []).map((set) => [set.name, set]));
  const sets = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { sets: sets.slice(0, MAX_SETS), leftOut: Math.max(0, sets.length - MAX_SETS) };
}

/**
 * A machine reports sets by name only. If it still reports an older set with that name, it is first assigned to release
 * that one. Otherwise a set that was deleted and created again would count as pinned because of the old one.
 */
const mayBeAssigned = ({ told, reported }: PinNode, set: AssignedSet): boolean =>
  isSetAssigned(told, set) || !reported.has(set.name);

const isSameAssignment = (a: PinAssignment | null, b: PinAssignment): boolean =>
  a !== null && a.mayPull === b.mayPull && a.parallel === b.parallel && isSame(a.sets, b.sets);

const isSame = (a: readonly AssignedSet[], b: readonly AssignedSet[]): boolean =>
  a.length === b.length &&
  a.every(({ name, uid, generation }, index) => {
    const other = b[index];
    return other?.name === name && other.uid === uid && other.generation === generation;
  });
