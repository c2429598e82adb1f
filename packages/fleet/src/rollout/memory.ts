// What a pool remembers of its rollouts, as JSON in its annotations. Anybody may have written there: what is not whole is not used.
import { isRecord, type JsonRecord } from '@slipway/base/json';
import type { Hold, RolloutRecord, RolloutState } from './facts.ts';

const MAX_STATE = 16 * 1024;
const MAX_HISTORY = 64 * 1024;
const MAX_RECORDS = 20;

export const encodeState = (state: RolloutState): string => JSON.stringify(state);

/** Null: damaged. */
export function decodeState(text: string): RolloutState | null {
  return text.length > MAX_STATE ? null : parsed(text, readState);
}

/** Newest first. */
export const addToHistory = (record: RolloutRecord, history: readonly RolloutRecord[]): readonly RolloutRecord[] =>
  [record, ...history].slice(0, MAX_RECORDS);

export const encodeHistory = (history: readonly RolloutRecord[]): string =>
  JSON.stringify(history.slice(0, MAX_RECORDS));

/** Null: damaged. */
export function decodeHistory(text: string): readonly RolloutRecord[] | null {
  if (text.length > MAX_HISTORY) return null;
  return parsed(text, (value) => {
    if (!Array.isArray(value)) throw damaged;
    return value.slice(0, MAX_RECORDS).map(readRecord);
  });
}

const damaged = new Error('not what was stored');

function parsed<T>(text: string, read: (value: unknown) => T): T | null {
  try {
    return read(JSON.parse(text));
  } catch {
    return null;
  }
}

class Fields {
  readonly #value: JsonRecord;

  constructor(value: unknown) {
    if (!isRecord(value)) throw damaged;
    this.#value = value;
  }

  get(name: string): unknown {
    return this.#value[name];
  }

  text(name: string): string {
    const value = this.get(name);
    if (typeof value !== 'string') throw damaged;
    return value;
  }

  time(name: string): string {
    const value = this.text(name);
    if (Number.isNaN(Date.parse(value))) throw damaged;
    return value;
  }

  count(name: string): number {
    const value = this.get(name);
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw damaged;
    return value;
  }

  flag(name: string): boolean {
    const value = this.get(name);
    if (typeof value !== 'boolean') throw damaged;
    return value;
  }

  oneOf<const T extends string>(name: string, known: readonly T[]): T {
    const found = known.find((each) => each === this.get(name));
    if (found === undefined) throw damaged;
    return found;
  }

  /** Left out counts as null, so that a field can be added later. */
  orNull<T>(name: string, read: (value: unknown) => T): T | null {
    const value = this.get(name);
    return value === undefined || value === null ? null : read(value);
  }

  textOrNull(name: string): string | null {
    return this.orNull(name, () => this.text(name));
  }

  timeOrNull(name: string): string | null {
    return this.orNull(name, () => this.time(name));
  }

  countOrNull(name: string): number | null {
    return this.orNull(name, () => this.count(name));
  }
}

function readState(value: unknown): RolloutState {
  const fields = new Fields(value);
  return {
    target: fields.text('target'),
    from: fields.textOrNull('from'),
    startedAt: fields.time('startedAt'),
    endedAt: fields.timeOrNull('endedAt'),
    nodes: fields.count('nodes'),
    fromOsMajor: fields.countOrNull('fromOsMajor'),
    wave: Math.max(1, fields.countOrNull('wave') ?? 1),
    healthySince: fields.timeOrNull('healthySince'),
    resumedAt: fields.timeOrNull('resumedAt'),
    halted: fields.orNull('halted', readHalt),
    hold: fields.orNull('hold', readHold),
    answer: fields.orNull('answer', readAnswer),
  };
}

function readHalt(value: unknown): NonNullable<RolloutState['halted']> {
  const fields = new Fields(value);
  return { at: fields.time('at'), node: fields.text('node'), reason: fields.text('reason') };
}

function readHold(value: unknown): Hold {
  const fields = new Fields(value);
  return {
    kind: fields.oneOf('kind', ['return', 'cancel', 'rollback']),
    instead: fields.textOrNull('instead'),
    at: fields.time('at'),
    why: fields.text('why'),
  };
}

function readAnswer(value: unknown): NonNullable<RolloutState['answer']> {
  const fields = new Fields(value);
  return {
    request: fields.text('request'),
    at: fields.time('at'),
    ok: fields.flag('ok'),
    text: fields.text('text'),
  };
}

const outcomes = ['completed', 'superseded', 'cancelled', 'returned', 'rolled back'] as const;

function readRecord(value: unknown): RolloutRecord {
  const fields = new Fields(value);
  const osMajor = fields.countOrNull('osMajor');
  return {
    config: fields.text('config'),
    ...(osMajor !== null && { osMajor }),
    from: fields.textOrNull('from'),
    startedAt: fields.time('startedAt'),
    endedAt: fields.time('endedAt'),
    outcome: fields.oneOf('outcome', outcomes),
    nodes: fields.count('nodes'),
    capacity: fields.count('capacity'),
    why: fields.text('why'),
  };
}
