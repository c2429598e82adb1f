// The images that a node must have, as the controller assigns them: one annotation of its MachineConfigNode. The daemon
// gets the sets by name, so that no daemon has to watch sets or pools.
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
import { matchesSelector, selectsSome } from '../render/select.ts';
import type { PinProblem } from './pool-summary.ts';

export interface AssignedSet {
  readonly name: string;
  /** A set that was deleted and created again has the same name and starts at generation 1. */
  readonly uid: string;
  readonly generation: number;
}

export interface PinAssignment {
  /** By name, without duplicates. Empty: nothing is pinned, and existing pins are released. */
  readonly sets: readonly AssignedSet[];
  /** False: the pool limits concurrent pulls, and this machine waits for a slot. It may pin images that are present. */
  readonly mayPull: boolean;
  /** How many images may be pulled concurrently. */
  readonly parallel: number;
}

/** The API's limit for sets in the status of a MachineConfigNode. */
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

/** The same assignment always has the same text. Null: not written by a controller, so it is ignored. */
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

// The PinnedImageSets of a pool: those that match it by label are added and removed automatically, a user's entries
// stay.

interface Labelled {
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> };
}

type Pool = Pick<MachineConfigPool, 'metadata'> & {
  readonly spec: Pick<MachineConfigPool['spec'], 'machineConfigSelector' | 'pinnedImageSets'>;
};

/** By the selector of its MachineConfigs. An empty one matches none: it never means every machine. */
export const takesSet = ({ spec: { machineConfigSelector } }: Pool, { metadata }: Labelled): boolean =>
  selectsSome(machineConfigSelector) && matchesSelector(machineConfigSelector, metadata.labels);

export interface PoolSets {
  /** The desired value of spec.pinnedImageSets. */
  readonly names: readonly string[];
  /** Those that we added, not a user. */
  readonly added: readonly string[];
  /** Those that match, but exceed the limit. */
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

/** Empty if unreadable: then all of spec.pinnedImageSets is user-managed, and stays. */
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
    message: `MachineConfigPool ${pool}: spec.pinnedImageSets: expected at most ${MAX_SETS} sets, found ${names.length + leftOut.length} that match or are listed; ignored: ${shown}. Combine the images into fewer sets: a set can have 500`,
  };
}
