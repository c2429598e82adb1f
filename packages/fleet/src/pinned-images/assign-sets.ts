import { type AssignedSet, MAX_SETS, type PinAssignment } from './assignment.ts';
import { holds, isSetAssigned, type PinNode, type PinPool } from './pin-facts.ts';
import { chooseTurns } from './turns.ts';

// What every machine is told: the sets of all its pools, and whether it may pull now.

export interface Assignments {
  /** By the name of the machine; only those that are to be told something else than they were. */
  readonly changed: ReadonlyMap<string, PinAssignment>;
  /** Then turns change though nothing else does; null: they do not. */
  readonly lookAgainAt: number | null;
}

/** Control planes have other things to do. */
const PARALLEL = { worker: 5, controlPlane: 2 } as const;

export function assignSets(nodes: readonly PinNode[], pools: ReadonlyMap<string, PinPool>, now: number): Assignments {
  const wanted = nodes.map((node) => ({ node, sets: collectSets(node, pools).sets }));
  const { turns, lookAgainAt } = chooseTurns(
    wanted.map(({ node, sets }) => ({
      ...node,
      isDone: sets.every((set) => holds(node, set)),
      hasTurn: node.told?.mayPull === true && isSame(node.told.sets, sets),
    })),
    pools,
    now,
  );
  const changed = new Map<string, PinAssignment>();
  for (const { node, sets } of wanted) {
    // Also one that is to hold nothing: from then on it says how much room it has, and a person can see what would fit.
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

/** The sets of all its pools, by name. Those beyond what its status can hold are left out. */
export function collectSets(
  { pools: names }: Pick<PinNode, 'pools'>,
  pools: ReadonlyMap<string, PinPool>,
): { readonly sets: readonly AssignedSet[]; readonly leftOut: number } {
  const byName = new Map(names.flatMap((name) => pools.get(name)?.sets ?? []).map((set) => [set.name, set]));
  const sets = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { sets: sets.slice(0, MAX_SETS), leftOut: Math.max(0, sets.length - MAX_SETS) };
}

/**
 * What a machine reports of a set has only its name. Where it still reports one of that name that it was told of earlier, it is
 * first told to let that go: so that a set that was deleted and made again never counts as held because the old one was.
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
