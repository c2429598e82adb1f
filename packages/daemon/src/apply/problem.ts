// Why an update did not come to its end, for people.
import { FleetError } from '@slipway/fleet';
import { DaemonError } from '../errors.ts';
import { systemErrorCode } from '../host/file-system.ts';
import type { Problem } from '../problem.ts';

/** Messages go into the log of the update, into annotations and conditions. */
const MAX_MESSAGE = 2000;

export function problemOf(error: unknown, step: string): Problem {
  const { code, text } = describe(error);
  return { code, message: cut(`${step}: ${text}`) };
}

export function withMore({ code, message }: Problem, more: string): Problem {
  return { code, message: cut(`${message}. ${more}`) };
}

function describe(error: unknown): { code: string; text: string } {
  if (error instanceof DaemonError || error instanceof FleetError) return { code: error.code, text: error.message };
  const text = error instanceof Error ? error.message : String(error);
  const system = systemErrorCode(error);
  if (system === undefined) return { code: 'SLW_DAEMON_STEP', text };
  return { code: 'SLW_DAEMON_DISK', text: `${text}. ${WAYS_OUT[system] ?? OTHER_WAY_OUT}` };
}

const FULL = 'Free space on that file system: the update is tried again by itself';
const OTHER_WAY_OUT = 'See the kernel’s log on the node (journalctl -k)';
const WAYS_OUT: Readonly<Record<string, string>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EROFS:
    'The file system is mounted read-only, often because the kernel found it damaged: see journalctl -k, repair it and mount it writable',
  EIO: 'The disk fails: see journalctl -k, and replace it',
};

function cut(text: string): string {
  return text.length <= MAX_MESSAGE ? text : `${text.slice(0, MAX_MESSAGE)}…`;
}
