// One condition of two findings.
import type { StreamCondition } from '../os-streams/deprecation.ts';

const SKEW = 'BootImageSkew';
const reasonsOfOurs: ReadonlySet<string> = new Set(['DeprecatedOSStreamInUse', SKEW]);
const between = '::';
const LONGEST = 4000;

/** `skew`: why boot images are too old for an upgrade, in words; null where they are not. */
export function joinUpgradeable(streams: StreamCondition, skew: string | null): StreamCondition {
  if (skew === null) return streams;
  if (streams.status === 'True') return { status: 'False', reason: SKEW, message: cut(skew) };
  return {
    status: 'False',
    reason: `${streams.reason}${between}${SKEW}`,
    // Each gets its half: one that is very long must not hide the other.
    message: `${cut(streams.message, LONGEST / 2)}\n${cut(skew, LONGEST / 2 - 1)}`,
  };
}

/** Whether an upgrade was held by something that we have found. */
export const isSaidByUs = (reason: string | undefined): boolean =>
  reason?.split(between).some((each) => reasonsOfOurs.has(each)) === true;

const cut = (text: string, limit = LONGEST): string => (text.length <= limit ? text : `${text.slice(0, limit - 1)}…`);
