// How the memory of what was last asked of a node changes.
import { backoffMs } from './backoff.ts';
import { shorten } from './drive-memory.ts';
import type { HostMemory, HostStep, IronicNode, StepOptions } from './host-step.ts';

export const nothingAsked: HostMemory = {
  doing: 'none',
  isSent: false,
  since: 0,
  onSince: 0,
  failures: 0,
  message: '',
  notBefore: 0,
};

/** A machine that cannot be reached is tried at least every quarter of an hour: what is wrong is often put right by hand. */
const MOST_DOUBLINGS = 4;

/** Written before the call. Failures are counted until all is well. */
export const asked = (before: HostMemory | null, doing: HostMemory['doing'], now: number): HostMemory => ({
  ...(before ?? nothingAsked),
  doing,
  isSent: false,
  since: now,
  onSince: doing === 'power on' ? now : (before?.onSince ?? 0),
  notBefore: 0,
});

export const hostCallAccepted = (before: HostMemory, now: number): HostMemory => ({
  ...before,
  isSent: true,
  since: now,
  onSince: before.doing === 'power on' ? now : before.onSince,
});

/** Failures are over; what was asked for last is not forgotten. */
export const forgiven = (before: HostMemory | null): HostMemory => ({
  ...(before ?? nothingAsked),
  failures: 0,
  message: '',
  notBefore: 0,
});

export function hostCallFailed(
  before: HostMemory | null,
  message: string,
  now: number,
  { minuteMs, chance }: StepOptions,
): HostMemory {
  const failures = (before?.failures ?? 0) + 1;
  const delay = backoffMs({ failures, minuteMs, chance, mostDoublings: MOST_DOUBLINGS });
  const onSince = before?.onSince ?? 0;
  return { ...nothingAsked, since: now, onSince, failures, message: shorten(message), notBefore: now + delay };
}

/** Null: nobody needs to wait. */
export const backingOff = (memory: HostMemory | null, now: number): Extract<HostStep, { type: 'wait' }> | null =>
  memory !== null && memory.notBefore > now ? { type: 'wait', why: 'backoff', ms: memory.notBefore - now } : null;

/** How far something is that we may have asked for already; the node is not busy, and not yet what was asked for. */
export function progressOf(
  memory: HostMemory | null,
  doing: HostMemory['doing'],
  { lastError }: IronicNode,
  { now, settleMs }: { readonly now: number; readonly settleMs: number },
): 'not asked' | 'lagging' | 'failed' {
  if (memory?.doing !== doing) return 'not asked';
  if (now < memory.since + settleMs) return 'lagging';
  return memory.isSent && lastError !== null ? 'failed' : 'not asked';
}
