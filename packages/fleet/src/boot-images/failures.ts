// Which resources fail, how often and since when: a failure counts only when it lasts. Kept on MachineConfiguration `cluster`,
// so that a restart does not begin anew. What is not whole is not used.
import { isRecord } from '@slipway/base/json';
import { keyOfMachines } from './facts.ts';
import { type BootImageCode, type ResourceVerdict } from './verdict.ts';

export interface Failure {
  readonly code: BootImageCode;
  /** Up to the threshold: more says nothing more, and would be one more write. */
  readonly count: number;
  readonly since: string;
}

/** By key of the resource. */
export type Failures = ReadonlyMap<string, Failure>;

/** This many, no two of which are nearer than that, and the first this long ago. */
export const failureThreshold = { count: 3, apartMs: 60_000, forMs: 5 * 60_000 } as const;

const MAX_KEPT = 200;
const MAX_ANNOTATION = 64 * 1024;
/** Stands for all that are not kept one by one. */
const OTHERS = '*';

/** What is well again is forgotten; what is gone as well. */
export function nextFailures(before: Failures, verdicts: readonly ResourceVerdict[], now: number): Failures {
  return new Map(
    verdicts.flatMap(({ resource, verdict, code }) =>
      verdict === 'failed' && code !== null
        ? [[keyOfMachines(resource), nextFailure(failureOf(before, keyOfMachines(resource)), code, now)]]
        : [],
    ),
  );
}

function nextFailure(before: Failure | undefined, code: BootImageCode, now: number): Failure {
  const since = before === undefined ? Number.NaN : Date.parse(before.since);
  // A clock that was set back must not keep it for ever from counting.
  if (before === undefined || !(since <= now)) return { code, count: 1, since: new Date(now).toISOString() };
  const isNext = before.count < failureThreshold.count && now >= since + before.count * failureThreshold.apartMs;
  return { code, count: before.count + (isNext ? 1 : 0), since: before.since };
}

export const failureOf = (failures: Failures, key: string): Failure | undefined =>
  failures.get(key) ?? failures.get(OTHERS);

/** Whether it is to be reported. */
export const isCounting = (failure: Failure | undefined, now: number): boolean =>
  failure !== undefined &&
  failure.count >= failureThreshold.count &&
  now - Date.parse(failure.since) >= failureThreshold.forMs;

/** When one of them may next count for more; null: never. */
export function untilNextFailure(failures: Failures, now: number): number | null {
  const due = [...failures.values()]
    .filter((failure) => !isCounting(failure, now))
    .map((failure) => dueAt(failure) - now);
  return due.length === 0 ? null : Math.max(0, Math.min(...due));
}

function dueAt({ count, since }: Failure): number {
  const { count: enough, apartMs, forMs } = failureThreshold;
  return Date.parse(since) + (count < enough ? count * apartMs : forMs);
}

/** Null: there are none, and the annotation goes. */
export function encodeFailures(failures: Failures): string | null {
  if (failures.size === 0) return null;
  const sorted = [...failures].toSorted(([aKey, a], [bKey, b]) =>
    a.since === b.since
      ? Number(aKey > bKey) - Number(aKey < bKey)
      : Number(a.since > b.since) - Number(a.since < b.since),
  );
  const kept = sorted.slice(0, MAX_KEPT);
  // The youngest of the others stands for them: none counts too early.
  const last = sorted.length > MAX_KEPT ? sorted.at(-1) : undefined;
  return JSON.stringify(Object.fromEntries(last === undefined ? kept : [...kept, [OTHERS, last[1]]]));
}

export function decodeFailures(text: string | undefined): Failures {
  if (text === undefined || text.length > MAX_ANNOTATION) return new Map();
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value)) return new Map();
    return new Map(Object.entries(value).filter((entry): entry is [string, Failure] => isFailure(entry[1])));
  } catch {
    return new Map();
  }
}

function isFailure(value: unknown): value is Failure {
  if (!isRecord(value)) return false;
  const { count, since, code } = value;
  const isCount = typeof count === 'number' && Number.isSafeInteger(count) && count >= 1;
  const isTime = typeof since === 'string' && !Number.isNaN(Date.parse(since));
  return isCount && isTime && typeof code === 'string';
}
