// Transitions of the drive memory: one function for each event.
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
  /** status reports it as attached, but we have no memory of it: another operator attached it. */
  | 'unverified'
  | 'detaching';

export function computeMedium({ memory, attachedUrl }: ObservedDataImage): Medium {
  if (memory === null) return attachedUrl === null ? 'none' : 'unverified';
  if (memory.doing === 'attach') return 'attaching';
  if (memory.doing === 'detach') return 'detaching';
  return memory.isAttached ? 'attached' : 'none';
}

/**
 * Whether the medium in the drive can be ours: Ironic names its copy after the node, or passes on our URL unchanged.
 * Boot images are named after the node too, and are never ours. If the BMC did not name what we attached, a medium
 * without a name is ours.
 */
export function isOurs({ inserted, image }: Drive, { reported, url, node }: DriveMemory): boolean {
  if (!inserted || image === '') return inserted && reported === '';
  const name = normalizeName(image);
  if (name === normalizeName(reported) || name === normalizeName(url)) return true;
  return node !== '' && name.includes(node) && !name.includes(`boot-${node}`);
}

/** Whether this medium, which came into an empty drive while Ironic attached ours, is named like it. */
export function isNamedLikeOurs({ inserted, image }: Drive, { url }: DriveMemory): boolean {
  const name = normalizeName(image);
  return inserted && !name.includes('://') && normalizeName(url).endsWith(`/${name.replace(/^\/+/, '')}`);
}

export const isReportedAs = ({ image }: Drive, { reported }: DriveMemory): boolean =>
  normalizeName(image) === normalizeName(reported);

/** BMCs report a URL with other capitals, with or without percent-encoding, or as the path of a share. */
function normalizeName(image: string): string {
  const name = image.replaceAll('\\', '/').toLowerCase();
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
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

/** Written before the call. `reported` stays: it distinguishes our medium from others. */
export const detachBegins = (before: DriveMemory, now: number): DriveMemory => ({
  ...before,
  doing: 'detach',
  isAttached: false,
  isSent: false,
  since: now,
  notBefore: 0,
});

/** The wait for Ironic starts when it accepts the call, because the call itself may be slow. */
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

/** A failed attach may have left something behind: empty the drive immediately, and delay the next try. */
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
 * Nothing of ours is in the drive now. After a failed attach the next one waits. If our medium reappears, `reported`
 * identifies it.
 */
export const emptied = (before: DriveMemory, now: number, options: StepOptions): DriveMemory => ({
  ...before,
  doing: 'none',
  isAttached: false,
  isSent: false,
  since: now,
  notBefore: before.failures === 0 ? 0 : now + delay(before.failures, options),
});

/** The drive contains a foreign medium: leave it untouched. Checking again costs nothing, and a user may eject it soon. */
export function foreignFound(before: DriveMemory, message: string, now: number, options: StepOptions): DriveMemory {
  const failures = before.failures + 1;
  const notBefore = now + delay(failures, options, MAX_DOUBLINGS);
  return { ...emptied({ ...before, failures, message: shorten(message) }, now, options), notBefore };
}

/** Metal3's backoff for DataImages: 2^failures minutes, up to eight and a half hours, minus up to half of it. */
export const delay = (failures: number, { minuteMs, chance }: StepOptions, mostDoublings = 9): number =>
  Math.round(
    backoffMs(
      { firstMs: 2 * minuteMs, maxMs: 2 ** mostDoublings * minuteMs, jitter: halfJitter },
      failures,
      () => 1 - chance,
    ),
  );

/** Text of other programs may be long, and contain characters that a status must not have. */
export const shorten = (message: string, longest = MAX_MESSAGE_LENGTH): string => printableLine(message, longest);

// Transitions of the memory of the last request for a node.

export const emptyHostMemory: HostMemory = {
  doing: 'none',
  isSent: false,
  since: 0,
  onSince: 0,
  failures: 0,
  message: '',
  notBefore: 0,
};

/** What a user may fix at any time is retried at least every quarter of an hour. */
const MAX_DOUBLINGS = 4;

/** Written before the call. Failures add up until the host is healthy. */
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

/** Resets the failures, but not the last request. */
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

/** Null: no backoff. */
export const backingOff = (memory: HostMemory | null, now: number): Extract<HostStep, { type: 'wait' }> | null =>
  memory !== null && memory.notBefore > now ? { type: 'wait', why: 'backoff', ms: memory.notBefore - now } : null;

/** Progress of a request that we may have sent already; the node is idle, and not yet in the requested state. */
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

// Both memories as annotations. We write them, but any client may have changed them.

export const HOST_MEMORY_ANNOTATION = 'slipway.dev/host';
export const BOOT_ANYWAY_ANNOTATION = 'slipway.dev/data-image-boot-anyway-after';
const MAX_MEMORY_CHARS = 16 * 1024;
const MAX_FAILURES = 1_000_000;

export const encodeMemory = (memory: HostMemory): string => JSON.stringify(memory);

/** `uid`: of its DataImage. First, because the admission policy `data-image-memory` compares the start. */
export const encodeDriveMemory = (memory: DriveMemory, uid: string): string => JSON.stringify({ of: uid, ...memory });

/**
 * Null: there is none, or it is of an object that was deleted since: a backup has restored it, or a user has written it
 * into a new object. An unreadable one counts as an interrupted detach: something of ours may be in the drive, and one
 * detach too many is better than a forgotten ISO.
 */
export function readDriveMemory(value: string | undefined, uid: string, now: number): DriveMemory | null {
  if (value === undefined) return null;
  if (value.startsWith(OWNER) && !value.startsWith(`${OWNER}${uid}",`)) return null;
  const fields = parseFields(value, MAX_MEMORY_CHARS);
  const doing = parseEnum(fields['doing'], ['attach', 'detach', 'none'] as const) ?? 'detach';
  return {
    doing,
    url: text(fields['url']),
    // Some BMCs report an empty name; if the field is missing, nothing was reported.
    isAttached: doing === 'none' && fields['isAttached'] === true && typeof fields['reported'] === 'string',
    reported: text(fields['reported']),
    node: text(fields['node']),
    ...readCallMemory(fields, now),
  };
}

const OWNER = '{"of":"';

/** Null: missing or unreadable; then everything is requested again, which is harmless. */
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

/** How many attach failures to accept before the host boots without it; null: never boot without it. */
export function readBootAnywayAfter(value: string | undefined): number | null {
  return value !== undefined && /^[1-9]\d{0,5}$/.test(value) ? Number(value) : null;
}

type CallMemory = Pick<DriveMemory & HostMemory, 'isSent' | 'since' | 'failures' | 'message' | 'notBefore'>;

const readCallMemory = (fields: Record<string, unknown>, now: number): CallMemory => ({
  isSent: fields['isSent'] === true,
  // A clock that was ahead must not cause a wait into the far future.
  since: Math.min(whole(fields['since'], Number.MAX_SAFE_INTEGER), now),
  failures: whole(fields['failures'], MAX_FAILURES),
  message: text(fields['message']),
  notBefore: whole(fields['notBefore'], now + MAX_DELAY_MS),
});

const MAX_DELAY_MS = 512 * 60_000;

/** Empty if unreadable. */
function parseFields(value: string, maxChars: number): Record<string, unknown> {
  const parsed = parseJson(value, { maxChars });
  return parsed.ok && isRecord(parsed.value) ? parsed.value : {};
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const whole = (value: unknown, most: number): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.min(Math.floor(value), most) : 0;

const parseEnum = <T extends string>(value: unknown, allowed: readonly T[]): T | null =>
  allowed.find((each) => each === value) ?? null;

// Reboot annotations of a BareMetalHost: reboot.metal3.io requests one reboot; with a key after a slash it keeps the
// host powered off until it is removed.

export const REBOOT_ANNOTATION = 'reboot.metal3.io';
/** Our key, used alongside an operator that controls the power of hosts. */
export const OWN_REBOOT_KEY = 'slipway';
const MAX_VALUE_CHARS = 1024;

export function rebootRequests(annotations: Readonly<Record<string, string>> | undefined): RebootRequest[] {
  return Object.entries(annotations ?? {}).flatMap(([name, value]) => {
    if (name === REBOOT_ANNOTATION) return [{ key: '', ...readValue(value) }];
    const key = name.startsWith(`${REBOOT_ANNOTATION}/`) ? name.slice(REBOOT_ANNOTATION.length + 1) : '';
    return key === '' ? [] : [{ key, ...readValue(value) }];
  });
}

/** The value of our annotation. */
export const holdValue = (now: number): string => JSON.stringify({ mode: 'soft', since: now });

/** Soft unless it requests hard. An unreadable value is soft too: the presence of the annotation is the request. */
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

/** One request for hard is enough: it means that the operating system will not respond. */
export const modeOfAll = (requests: readonly RebootRequest[]): RebootRequest['mode'] =>
  requests.some(({ mode }) => mode === 'hard') ? 'hard' : 'soft';
