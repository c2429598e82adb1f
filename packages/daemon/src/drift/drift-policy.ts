// What a node does about drift, as the annotation on the MachineConfiguration `cluster` has it.
import { driftPolicyAnnotation } from '@slipway/api/names';

export type DriftPolicy =
  /** It is told, and nothing is done. */
  | { readonly type: 'leave' }
  /** Put back when it has lasted this long; 0: at once. */
  | { readonly type: 'heal'; readonly afterMs: number };

export type ParsedDriftPolicy =
  | { readonly ok: true; readonly policy: DriftPolicy }
  /** `problem` is for people. Until it is corrected, drift is left as it is. */
  | { readonly ok: false; readonly policy: DriftPolicy; readonly problem: string };

export const LEAVE: DriftPolicy = { type: 'leave' };
const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };
const SHORTEST_MS = 60_000;
const LONGEST_MS = 24 * 3_600_000;

/** `text` is the value of the annotation; undefined: there is none. */
export function parseDriftPolicy(text: string | undefined): ParsedDriftPolicy {
  const value = text?.trim() ?? '';
  if (value === '' || value === 'leave') return { ok: true, policy: LEAVE };
  if (value === 'heal') return { ok: true, policy: { type: 'heal', afterMs: 0 } };
  const afterMs = delayIn(value);
  if (afterMs >= SHORTEST_MS && afterMs <= LONGEST_MS) return { ok: true, policy: { type: 'heal', afterMs } };
  return { ok: false, policy: LEAVE, problem: refuse(value, Number.isNaN(afterMs)) };
}

/** NaN where there is none. */
function delayIn(value: string): number {
  const [, number = '', unit = ''] = /^heal-after=(\d{1,6})([smh])$/.exec(value) ?? [];
  return Number(number) * (UNITS[unit] ?? Number.NaN);
}

function refuse(found: string, isNoPolicy: boolean): string {
  const expected = isNoPolicy ? 'leave, heal, or heal-after=10m' : 'a time from 1m to 24h after heal-after=';
  return (
    `MachineConfiguration cluster, annotation ${driftPolicyAnnotation}: expected ${expected}, ` +
    `found ${JSON.stringify(found.slice(0, 80))}. Until it is corrected or removed, drift is told and left as it is`
  );
}
