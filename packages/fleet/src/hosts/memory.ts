// How the memory of a drive changes: one function for each thing that can happen to it.
import { backoffMs, halfJitter } from '@slipway/base/backoff';
import { printableLine } from '@slipway/base/text';
import { isRecord, parseJson } from '@slipway/base/json';
import type {
  ObservedDataImage,
  Drive,
  DriveMemory,
  HostMemory,
  HostStep,
  IronicNode,
  RebootRequest,
  StepOptions,
} from './host-step.ts';

const MAX_MESSAGE_LENGTH = 1024;

/** Nothing of ours is in the drive, and nothing has failed. */
export const emptyDrive = (url: string): DriveMemory => ({
  doing: 'none',
  url,
  isAttached: false,
  reported: '',
  node: '',
  isSent: false,
  since: 0,
  notBefore: 0,
  failures: 0,
  message: '',
});

/** What is in the drive, as far as we know. */
export type Medium =
  /** Nothing of ours. */
  | 'none'
  | 'attaching'
  /** Verified. */
  | 'attached'
  /** status says that it is attached, and we do not remember it: another operator did it. */
  | 'unverified'
  | 'detaching';

export function computeMedium({ memory, attachedUrl }: ObservedDataImage): Medium {
  if (memory === null) return attachedUrl === null ? 'none' : 'unverified';
  if (memory.doing === 'attach') return 'attaching';
  if (memory.doing === 'detach') return 'detaching';
  return memory.isAttached ? 'attached' : 'none';
}

/**
 * Whether what is in the drive can be ours: Ironic names its copy after the node, or hands on our URL as it is. What it
 * boots machines from is named after the node too, and is never ours. A BMC that has not named what we attached names
 * nothing, so what has no name is ours there.
 */
export function isOurs({ inserted, image }: Drive, { reported, url, node }: DriveMemory): boolean {
  if (!inserted || image === '') return inserted && reported === '';
  if (image === reported || image === url) return true;
  return node !== '' && image.includes(node) && !image.includes(`boot-${node}`);
}

export const countFailures = ({ memory, errorCount }: ObservedDataImage): number => memory?.failures ?? errorCount;

/** Written before the call. */
export const attachBegins = (before: DriveMemory, { uuid }: IronicNode, now: number): DriveMemory => ({
  ...before,
  node: uuid,
  doing: 'attach',
  isAttached: false,
  reported: '',
  isSent: false,
  since: now,
  notBefore: 0,
});

/** Written before the call. What is `reported` stays: it tells our medium from somebody else's. */
export const detachBegins = (before: DriveMemory, now: number): DriveMemory => ({
  ...before,
  doing: 'detach',
  isAttached: false,
  isSent: false,
  since: now,
  notBefore: 0,
});

/** The wait for Ironic's work begins with its yes: a call may have been slow. */
export const driveCallAccepted = (before: DriveMemory, now: number): DriveMemory => ({
  ...before,
  isSent: true,
  since: now,
});

export const verified = ({ url, node }: DriveMemory, reported: string, now: number): DriveMemory => ({
  ...emptyDrive(url),
  node,
  isAttached: true,
  reported,
  since: now,
});

/** A failed attach may have left something behind: the drive is emptied at once, the next try waits. */
export const attachFailed = (before: DriveMemory, message: string, now: number): DriveMemory => ({
  ...before,
  doing: 'detach',
  reported: '',
  isSent: false,
  since: now,
  notBefore: 0,
  failures: before.failures + 1,
  message: shorten(message),
});

export function detachFailed(before: DriveMemory, message: string, now: number, options: StepOptions): DriveMemory {
  const failures = before.failures + 1;
  return { ...before, isSent: false, failures, message: shorten(message), notBefore: now + delay(failures, options) };
}

/**
 * Nothing of ours is in the drive any more. After a failed attach the next one waits. Should ours come back, it is known
 * by what was `reported`.
 */
export const emptied = (before: DriveMemory, now: number, options: StepOptions): DriveMemory => ({
  ...before,
  doing: 'none',
  isAttached: false,
  isSent: false,
  since: now,
  notBefore: before.failures === 0 ? 0 : now + delay(before.failures, options),
});

/** There is a medium in the drive that is not ours: it is not touched. */
export function foreignFound(before: DriveMemory, message: string, now: number, options: StepOptions): DriveMemory {
  const failures = before.failures + 1;
  return emptied({ ...before, failures, message: shorten(message) }, now, options);
}

/** As Metal3 users know it for DataImages: 2^failures minutes, up to eight and a half hours, less up to half of it. */
export const delay = (failures: number, { minuteMs, chance }: StepOptions, mostDoublings = 9): number =>
  Math.round(
    backoffMs(
      { firstMs: 2 * minuteMs, maxMs: 2 ** mostDoublings * minuteMs, jitter: halfJitter },
      failures,
      () => 1 - chance,
    ),
  );

/** What outside programs say may be long, and have what no status may have. */
export const shorten = (message: string, longest = MAX_MESSAGE_LENGTH): string => printableLine(message, longest);

// How the memory of what was last asked of a node changes.

export const emptyHostMemory: HostMemory = {
  doing: 'none',
  isSent: false,
  since: 0,
  onSince: 0,
  failures: 0,
  message: '',
  notBefore: 0,
};

/** A machine that cannot be reached is tried at least every quarter of an hour: what is wrong is often put right by hand. */
const MAX_DOUBLINGS = 4;

/** Written before the call. Failures are counted until all is well. */
export const recordRequest = (before: HostMemory | null, doing: HostMemory['doing'], now: number): HostMemory => ({
  ...(before ?? emptyHostMemory),
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
  ...(before ?? emptyHostMemory),
  failures: 0,
  message: '',
  notBefore: 0,
});

export function hostCallFailed(
  before: HostMemory | null,
  message: string,
  now: number,
  options: StepOptions,
): HostMemory {
  const failures = (before?.failures ?? 0) + 1;
  const onSince = before?.onSince ?? 0;
  const notBefore = now + delay(failures, options, MAX_DOUBLINGS);
  return { ...emptyHostMemory, since: now, onSince, failures, message: shorten(message), notBefore };
}

/** Null: nobody needs to wait. */
export const backingOff = (memory: HostMemory | null, now: number): Extract<HostStep, { type: 'wait' }> | null =>
  memory !== null && memory.notBefore > now ? { type: 'wait', why: 'backoff', ms: memory.notBefore - now } : null;

/** How far something is that we may have asked for already; the node is not busy, and not yet what was asked for. */
export function checkProgress(
  memory: HostMemory | null,
  doing: HostMemory['doing'],
  { lastError }: IronicNode,
  { now, settleMs }: { readonly now: number; readonly settleMs: number },
): 'not asked' | 'lagging' | 'failed' {
  if (memory?.doing !== doing) return 'not asked';
  if (now < memory.since + settleMs) return 'lagging';
  return memory.isSent && lastError !== null ? 'failed' : 'not asked';
}

// The two memories as annotations: written by us, but anybody may have had their hands on them.

export const HOST_MEMORY_ANNOTATION = 'slipway.dev/host';
export const BOOT_ANYWAY_ANNOTATION = 'slipway.dev/data-image-boot-anyway-after';
const MAX_MEMORY_CHARS = 16 * 1024;
const MAX_FAILURES = 1_000_000;

export const encodeMemory = (memory: DriveMemory | HostMemory): string => JSON.stringify(memory);

/**
 * Null: there is none. What is there and cannot be read is an interrupted detach: something of ours may be in the drive, and
 * it is better emptied once too often than forgotten.
 */
export function readDriveMemory(value: string | undefined, now: number): DriveMemory | null {
  if (value === undefined) return null;
  const fields = parseFields(value, MAX_MEMORY_CHARS);
  const doing = parseEnum(fields['doing'], ['attach', 'detach', 'none'] as const) ?? 'detach';
  return {
    doing,
    url: text(fields['url']),
    // Empty is what some BMCs report; where nothing is, nothing was.
    isAttached: doing === 'none' && fields['isAttached'] === true && typeof fields['reported'] === 'string',
    reported: text(fields['reported']),
    node: text(fields['node']),
    ...readCallMemory(fields, now),
  };
}

/** Null: there is none, or none that can be read; then everything is asked for again, which does no harm. */
export function readHostMemory(value: string | undefined, now: number): HostMemory | null {
  const fields = parseFields(value ?? '', MAX_MEMORY_CHARS);
  const doing = parseEnum(fields['doing'], hostDoings);
  if (doing === null) return null;
  return {
    doing,
    onSince: Math.min(whole(fields['onSince'], Number.MAX_SAFE_INTEGER), now),
    ...readCallMemory(fields, now),
  };
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

type CallMemory = Pick<DriveMemory & HostMemory, 'isSent' | 'since' | 'failures' | 'message' | 'notBefore'>;

const readCallMemory = (fields: Record<string, unknown>, now: number): CallMemory => ({
  isSent: fields['isSent'] === true,
  // A clock that was ahead must not keep anybody waiting for a time that is far away.
  since: Math.min(whole(fields['since'], Number.MAX_SAFE_INTEGER), now),
  failures: whole(fields['failures'], MAX_FAILURES),
  message: text(fields['message']),
  notBefore: whole(fields['notBefore'], now + MAX_DELAY_MS),
});

const MAX_DELAY_MS = 512 * 60_000;

/** What cannot be read is empty. */
function parseFields(value: string, maxChars: number): Record<string, unknown> {
  const parsed = parseJson(value, { maxChars });
  return parsed.ok && isRecord(parsed.value) ? parsed.value : {};
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const whole = (value: unknown, most: number): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.min(Math.floor(value), most) : 0;

const parseEnum = <T extends string>(value: unknown, allowed: readonly T[]): T | null =>
  allowed.find((each) => each === value) ?? null;

// Reboot annotations of a BareMetalHost: reboot.metal3.io asks for one reboot; with a key behind a slash it holds the host
// off until whoever put it there takes it away.

export const REBOOT_ANNOTATION = 'reboot.metal3.io';
/** Our key, for use beside an operator that powers the hosts itself. */
export const OWN_REBOOT_KEY = 'slipway';
const MAX_VALUE_CHARS = 1024;

export function rebootRequests(annotations: Readonly<Record<string, string>> | undefined): RebootRequest[] {
  return Object.entries(annotations ?? {}).flatMap(([name, value]) => {
    if (name === REBOOT_ANNOTATION) return [{ key: '', ...readValue(value) }];
    const key = name.startsWith(`${REBOOT_ANNOTATION}/`) ? name.slice(REBOOT_ANNOTATION.length + 1) : '';
    return key === '' ? [] : [{ key, ...readValue(value) }];
  });
}

/** The value of our own. */
export const holdValue = (now: number): string => JSON.stringify({ mode: 'soft', since: now });

/** Soft unless it says hard. What cannot be read is soft too: the request itself is the annotation's being there. */
function readValue(value: string): Pick<RebootRequest, 'mode' | 'since'> {
  const { mode, since } = parseFields(value, MAX_VALUE_CHARS);
  return {
    mode: mode === 'hard' ? 'hard' : 'soft',
    since: typeof since === 'number' && Number.isFinite(since) ? since : 0,
  };
}

export const formatRebootAnnotation = ({ key }: RebootRequest): string =>
  key === '' ? REBOOT_ANNOTATION : `${REBOOT_ANNOTATION}/${key}`;

export const isPlain = ({ key }: RebootRequest): boolean => key === '';
export const isOwn = ({ key }: RebootRequest): boolean => key === OWN_REBOOT_KEY;

/** One that asks for hard is enough: it says that the operating system will not answer. */
export const modeOfAll = (requests: readonly RebootRequest[]): RebootRequest['mode'] =>
  requests.some(({ mode }) => mode === 'hard') ? 'hard' : 'soft';
