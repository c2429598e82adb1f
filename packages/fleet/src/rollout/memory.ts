// The rollout state and history of a pool, as JSON in its annotations. Any client can write those: damaged JSON is not
// used.
import {
  annotationCodec,
  array,
  boolean,
  type Decoder,
  integer,
  map,
  object,
  oneOf,
  optional,
  orNull,
  string,
  time,
} from '@slipway/base/codec';
import type { RolloutRecord, RolloutState } from './facts.ts';

const MAX_STATE = 16 * 1024;
const MAX_HISTORY = 64 * 1024;
const MAX_RECORDS = 20;

const count = integer({ min: 0 });

const state: Decoder<RolloutState> = object({
  target: string(),
  from: orNull(string()),
  startedAt: time,
  endedAt: orNull(time),
  nodes: count,
  fromOsMajor: orNull(count),
  wave: map(orNull(count), (wave) => Math.max(1, wave ?? 1)),
  healthySince: orNull(time),
  resumedAt: orNull(time),
  halted: orNull(object({ at: time, node: string(), reason: string() })),
  hold: orNull(
    object({
      kind: oneOf(['return', 'cancel', 'rollback']),
      instead: orNull(string()),
      at: time,
      why: string(),
    }),
  ),
  answer: orNull(object({ request: string(), at: time, ok: boolean, text: string() })),
});

const record: Decoder<RolloutRecord> = object({
  config: string(),
  osMajor: optional(count),
  from: orNull(string()),
  startedAt: time,
  endedAt: time,
  outcome: oneOf(['completed', 'superseded', 'cancelled', 'returned', 'rolled back']),
  nodes: count,
  capacity: count,
  why: string(),
});

const newest = <T>(list: readonly T[]): readonly T[] => list.slice(0, MAX_RECORDS);

/** Null: damaged. */
export const { encode: encodeState, decode: decodeState } = annotationCodec({
  decoder: state,
  maxChars: MAX_STATE,
  missing: null,
  unreadable: null,
});

/** Newest first. Null: damaged. */
export const { encode: encodeHistory, decode: decodeHistory } = annotationCodec<readonly RolloutRecord[], null, null>({
  decoder: map(array(record), newest),
  maxChars: MAX_HISTORY,
  toJson: newest,
  missing: null,
  unreadable: null,
});

export const addToHistory = (ended: RolloutRecord, history: readonly RolloutRecord[]): readonly RolloutRecord[] =>
  newest([ended, ...history]);
