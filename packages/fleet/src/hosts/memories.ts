// The two memories as annotations: written by us, but anybody may have had their hands on them.
import { isRecord } from '@slipway/base/json';
import type { DriveMemory, HostMemory } from './host-step.ts';

export const hostMemoryAnnotation = 'slipway.dev/host';
export const bootAnywayAnnotation = 'slipway.dev/data-image-boot-anyway-after';
const LONGEST = 16 * 1024;
const MOST_FAILURES = 1_000_000;

export const encodeMemory = (memory: DriveMemory | HostMemory): string => JSON.stringify(memory);

/**
 * Null: there is none. What is there and cannot be read is an interrupted detach: something of ours may be in the drive, and
 * it is better emptied once too often than forgotten.
 */
export function readDriveMemory(value: string | undefined, now: number): DriveMemory | null {
  if (value === undefined) return null;
  const fields = parse(value);
  const doing = oneOf(fields['doing'], ['attach', 'detach', 'none'] as const) ?? 'detach';
  return {
    doing,
    url: text(fields['url']),
    // Empty is what some BMCs report; where nothing is, nothing was.
    isAttached: doing === 'none' && fields['isAttached'] === true && typeof fields['reported'] === 'string',
    reported: text(fields['reported']),
    node: text(fields['node']),
    ...shared(fields, now),
  };
}

/** Null: there is none, or none that can be read; then everything is asked for again, which does no harm. */
export function readHostMemory(value: string | undefined, now: number): HostMemory | null {
  const fields = parse(value ?? '');
  const doing = oneOf(fields['doing'], hostDoings);
  if (doing === null) return null;
  return { doing, onSince: Math.min(whole(fields['onSince'], Number.MAX_SAFE_INTEGER), now), ...shared(fields, now) };
}

const hostDoings = [
  'none',
  'update',
  'manage',
  'adopt',
  'power on',
  'power off',
  'soft power off',
  'delete',
] as const satisfies readonly HostMemory['doing'][];

/** How often an attach may fail before the host boots without it; null: it never does. */
export function readBootAnywayAfter(value: string | undefined): number | null {
  return value !== undefined && /^[1-9]\d{0,5}$/.test(value) ? Number(value) : null;
}

type Shared = Pick<DriveMemory & HostMemory, 'isSent' | 'since' | 'failures' | 'message' | 'notBefore'>;

const shared = (fields: Record<string, unknown>, now: number): Shared => ({
  isSent: fields['isSent'] === true,
  // A clock that was ahead must not keep anybody waiting for a time that is far away.
  since: Math.min(whole(fields['since'], Number.MAX_SAFE_INTEGER), now),
  failures: whole(fields['failures'], MOST_FAILURES),
  message: text(fields['message']),
  notBefore: whole(fields['notBefore'], now + LONGEST_DELAY),
});

const LONGEST_DELAY = 512 * 60_000;

function parse(value: string): Record<string, unknown> {
  if (value.length > LONGEST) return {};
  try {
    const parsed: unknown = JSON.parse(value);
    return isRecord(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const whole = (value: unknown, most: number): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.min(Math.floor(value), most) : 0;

const oneOf = <T extends string>(value: unknown, allowed: readonly T[]): T | null =>
  allowed.find((each) => each === value) ?? null;
