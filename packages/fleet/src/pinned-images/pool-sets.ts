// Which PinnedImageSets a pool has: those that match it by label come and go by themselves, a person's own stay.
import type { MachineConfigPool } from '@slipway/api';
import { addedImageSetsAnnotation } from '@slipway/api/names';
import { selectsSome } from '../pool-of.ts';
import { matchesSelector } from '../render/label-selector.ts';
import { MOST_SETS } from './assignment.ts';
import type { PinProblem } from './pin-problem.ts';

interface Labelled {
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> };
}

type Pool = Pick<MachineConfigPool, 'metadata'> & {
  readonly spec: Pick<MachineConfigPool['spec'], 'machineConfigSelector' | 'pinnedImageSets'>;
};

/** By the selector of its MachineConfigs. An empty one takes none: images for every machine there is are never meant. */
export const takesSet = ({ spec: { machineConfigSelector } }: Pool, { metadata }: Labelled): boolean =>
  selectsSome(machineConfigSelector) && matchesSelector(machineConfigSelector, metadata.labels);

export interface PoolSets {
  /** As they shall be in spec.pinnedImageSets. */
  readonly names: readonly string[];
  /** Those of them that were not put there by a person. */
  readonly added: readonly string[];
  /** Match, and find no room. */
  readonly leftOut: readonly string[];
}

export function nextPoolSets(pool: Pool, sets: Iterable<Labelled>): PoolSets {
  const before = setNamesOf(pool);
  const addedBefore = new Set(addedSetsOf(pool));
  const own = before.filter((name) => !addedBefore.has(name));
  const matching = [...sets]
    .filter((set) => takesSet(pool, set))
    .map(({ metadata }) => metadata.name)
    .filter((name) => !own.includes(name))
    .sort();
  const added = matching.slice(0, Math.max(0, MOST_SETS - own.length));
  const stay = before.filter((name) => own.includes(name) || added.includes(name));
  return {
    names: [...stay, ...added.filter((name) => !stay.includes(name))],
    added,
    leftOut: matching.slice(added.length),
  };
}

export const setNamesOf = ({ spec: { pinnedImageSets = [] } }: Pool): string[] =>
  pinnedImageSets.map(({ name }) => name);

export const encodeAddedSets = (names: readonly string[]): string => JSON.stringify(names);

/** What cannot be read counts as nothing: then all of spec.pinnedImageSets is somebody's own, and stays. */
export function addedSetsOf({ metadata: { annotations } }: Pick<Pool, 'metadata'>): readonly string[] {
  try {
    const value: unknown = JSON.parse(annotations?.[addedImageSetsAnnotation] ?? '[]');
    return Array.isArray(value) ? value.filter((each) => typeof each === 'string').slice(0, MOST_SETS) : [];
  } catch {
    return [];
  }
}

export function tooManySets(pool: string, { leftOut, names }: PoolSets): PinProblem | null {
  if (leftOut.length === 0) return null;
  const shown = leftOut.slice(0, 3).join(', ') + (leftOut.length > 3 ? ` and ${leftOut.length - 3} more` : '');
  return {
    code: 'SLW_PIN_TOO_MANY_SETS',
    message: `MachineConfigPool ${pool}: spec.pinnedImageSets: expected at most ${MOST_SETS} sets, found ${names.length + leftOut.length} that match or are named: ${shown} are left out. Put the images into fewer sets, a set holds 500`,
  };
}
