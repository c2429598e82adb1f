// What a node is to hold, as the controller tells it: one annotation of its MachineConfigNode. The daemon gets the sets by
// name, so that no daemon has to watch sets or pools.
import type { MachineConfigPool } from '@slipway/api';
import { addedImageSetsAnnotation } from '@slipway/api/names';
import {
  annotationCodec,
  array,
  boolean,
  type Decoder,
  integer,
  map,
  object,
  readableItems,
  refine,
  string,
} from '@slipway/base/codec';
import { selectsSome } from '../pool-membership.ts';
import { matchesSelector } from '../render/select.ts';
import type { PinProblem } from './pool-summary.ts';

export interface AssignedSet {
  readonly name: string;
  /** A set that was deleted and made again has the same name and begins at generation 1. */
  readonly uid: string;
  readonly generation: number;
}

export interface PinAssignment {
  /** By name, without duplicates. Empty: nothing is pinned, and what was is let go. */
  readonly sets: readonly AssignedSet[];
  /** False: the pool lets only so many machines pull at once, and this one waits for its turn. What is there may be pinned. */
  readonly mayPull: boolean;
  /** How many images may be pulled at once. */
  readonly parallel: number;
}

/** Those of one set of the status of a MachineConfigNode: at most this many are kept by the API. */
export const MAX_SETS = 100;

const MAX_TEXT = 64 * 1024;
const MAX_UID = 128;
const MAX_GENERATION = 2 ** 31 - 1;
const MAX_PARALLEL = 32;
const SET_NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

const set: Decoder<AssignedSet> = object({
  name: string({ pattern: SET_NAME }),
  uid: string({ max: MAX_UID }),
  generation: integer({ min: 1, max: MAX_GENERATION }),
});

const inOrder = (sets: readonly AssignedSet[]): boolean =>
  sets.every(({ name }, index) => index === 0 || String(sets[index - 1]?.name) < name);

/** The same assignment is always the same text. Null: not what a controller wrote, and nothing to go by. */
export const { encode: encodeAssignment, decode: decodeAssignment } = annotationCodec<PinAssignment, null, null>({
  decoder: object({
    sets: refine(array(set, { max: MAX_SETS }), inOrder, 'sets by name'),
    mayPull: boolean,
    parallel: integer({ min: 1, max: MAX_PARALLEL }),
  }),
  maxChars: MAX_TEXT,
  toJson: ({ sets, mayPull, parallel }) => ({
    sets: sets.map(({ name, uid, generation }) => ({ name, uid, generation })),
    mayPull,
    parallel,
  }),
  missing: null,
  unreadable: null,
});

// Which PinnedImageSets a pool has: those that match it by label come and go by themselves, a person's own stay.

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
  const before = listSetNames(pool);
  const addedBefore = new Set(readAddedSets(pool));
  const own = before.filter((name) => !addedBefore.has(name));
  const matching = [...sets]
    .filter((set) => takesSet(pool, set))
    .map(({ metadata }) => metadata.name)
    .filter((name) => !own.includes(name))
    .sort();
  const added = matching.slice(0, Math.max(0, MAX_SETS - own.length));
  const stay = before.filter((name) => own.includes(name) || added.includes(name));
  return {
    names: [...stay, ...added.filter((name) => !stay.includes(name))],
    added,
    leftOut: matching.slice(added.length),
  };
}

export const listSetNames = ({ spec: { pinnedImageSets = [] } }: Pool): string[] =>
  pinnedImageSets.map(({ name }) => name);

/** What cannot be read counts as nothing: then all of spec.pinnedImageSets is somebody's own, and stays. */
const addedSets = annotationCodec<readonly string[], readonly string[], readonly string[]>({
  decoder: map(readableItems(string()), (names) => names.slice(0, MAX_SETS)),
  maxChars: MAX_TEXT,
  missing: [],
  unreadable: [],
});

export const encodeAddedSets = addedSets.encode;
export const readAddedSets = ({ metadata: { annotations } }: Pick<Pool, 'metadata'>): readonly string[] =>
  addedSets.decode(annotations?.[addedImageSetsAnnotation]);

export function tooManySets(pool: string, { leftOut, names }: PoolSets): PinProblem | null {
  if (leftOut.length === 0) return null;
  const shown = leftOut.slice(0, 3).join(', ') + (leftOut.length > 3 ? ` and ${leftOut.length - 3} more` : '');
  return {
    code: 'SLW_PIN_TOO_MANY_SETS',
    message: `MachineConfigPool ${pool}: spec.pinnedImageSets: expected at most ${MAX_SETS} sets, found ${names.length + leftOut.length} that match or are named: ${shown} are left out. Put the images into fewer sets, a set holds 500`,
  };
}
