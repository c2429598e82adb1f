// What a node is to hold, as the controller tells it: one annotation of its MachineConfigNode. The daemon gets the sets by
// name, so that no daemon has to watch sets or pools.
import { isRecord } from '@slipway/base/json';

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
export const MOST_SETS = 100;

const MAX_TEXT = 64 * 1024;
const MAX_UID = 128;
const MAX_GENERATION = 2 ** 31 - 1;
const MAX_PARALLEL = 32;
const setName = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

/** The same assignment is always the same text. */
export const encodeAssignment = ({ sets, mayPull, parallel }: PinAssignment): string =>
  JSON.stringify({ sets: sets.map(({ name, uid, generation }) => ({ name, uid, generation })), mayPull, parallel });

/** Null: not what a controller wrote, and nothing to go by. */
export function decodeAssignment(text: string): PinAssignment | null {
  if (text.length > MAX_TEXT) return null;
  try {
    return readAssignment(JSON.parse(text));
  } catch {
    return null;
  }
}

function readAssignment(value: unknown): PinAssignment | null {
  if (!isRecord(value)) return null;
  const { sets, mayPull, parallel } = value;
  if (!isSets(sets) || typeof mayPull !== 'boolean' || !isCount(parallel, MAX_PARALLEL)) return null;
  return { sets: sets.map(({ name, uid, generation }) => ({ name, uid, generation })), mayPull, parallel };
}

const isSets = (value: unknown): value is AssignedSet[] =>
  Array.isArray(value) &&
  value.length <= MOST_SETS &&
  value.every(isSet) &&
  value.every(({ name }, index) => index === 0 || String(value[index - 1]?.name) < name);

const isSet = (value: unknown): value is AssignedSet =>
  isRecord(value) &&
  typeof value['name'] === 'string' &&
  setName.test(value['name']) &&
  typeof value['uid'] === 'string' &&
  value['uid'].length <= MAX_UID &&
  isCount(value['generation'], MAX_GENERATION);

const isCount = (value: unknown, most: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most;
