// Somebody keeps changing a boot image back: we say so and stop, instead of making machines now of this kind, now of that.
import type { OptIn } from './facts.ts';
import { type BootImageMemory, rememberedText } from './memory.ts';

/** How often the same value is set within the time, before it is left to the other one. */
export const hotLoop = { times: 3, withinMs: 60 * 60_000 } as const;

/** What is to be set. */
export interface WantedValue {
  readonly image: string;
  readonly stub: string;
}

export type HotLoopStep =
  /** Set it, and remember this with it. */
  | { readonly type: 'go'; readonly memory: BootImageMemory }
  /** We set it as often as may be, first at `since`, and it is not there. */
  | { readonly type: 'stop'; readonly since: string };

/**
 * Asked only when the resource does not have what it shall have. What we have set three times within the hour and is gone was
 * changed back each time. It stays stopped, however long, until another image is wanted, MachineConfiguration says something
 * else, or a person takes our annotation away.
 */
export function hotLoopStep(
  memory: BootImageMemory | null,
  wanted: WantedValue,
  { optIn, now }: { readonly optIn: OptIn | null; readonly now: number },
): HotLoopStep {
  const mark = optInMark(optIn);
  const [image, stub] = [rememberedText(wanted.image), rememberedText(wanted.stub)];
  const isSame = memory?.image === image && memory.stub === stub && memory.optIn === mark;
  const times = isSame ? memory.times.slice(-hotLoop.times) : [];
  const [since] = times;
  if (since !== undefined && isHot(times)) return { type: 'stop', since };
  const next = [...times, new Date(now).toISOString()].slice(-hotLoop.times);
  return { type: 'go', memory: { image, stub, times: next, optIn: mark } };
}

/** Whichever way the clock has gone meanwhile. */
function isHot(times: readonly string[]): boolean {
  const at = times.map((time) => Date.parse(time));
  return at.length >= hotLoop.times && Math.max(...at) - Math.min(...at) <= hotLoop.withinMs;
}

/** The generation and not the content: who opts out, mends and opts in again means a new beginning. */
const optInMark = (optIn: OptIn | null): string => (optIn === null ? '' : `${optIn.generation}@${optIn.uid}`);
