// How the memory of a drive changes: one function for each thing that can happen to it.
import { backoffMs } from './backoff.ts';
import type { DataImageSeen, Drive, DriveMemory, IronicNode, StepOptions } from './host-step.ts';

const LONGEST_MESSAGE = 1024;

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

export function mediumOf({ memory, attachedUrl }: DataImageSeen): Medium {
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

export const failuresOf = ({ memory, errorCount }: DataImageSeen): number => memory?.failures ?? errorCount;

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

const delay = (failures: number, { minuteMs, chance }: StepOptions): number =>
  backoffMs({ failures, minuteMs, chance });

/** What outside programs say may be long, and have what no status may have. */
export function shorten(message: string, longest = LONGEST_MESSAGE): string {
  const printable = message.replaceAll(/\p{Cc}+/gu, ' ').trim();
  return printable.length > longest ? `${printable.slice(0, longest - 1)}…` : printable;
}
