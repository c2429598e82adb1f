// What prevents a node from reaching its config, and how an error becomes such a problem.
import { maskSecrets } from '@slipway/base/masking';
import { oneLine, truncate } from '@slipway/base/text';
import { FleetError } from '@slipway/fleet';
import { DaemonError } from './errors.ts';
import { systemErrorCode } from './host/file-system.ts';

/** For annotations, conditions and logs. */
export interface Problem {
  /** SLW_… */
  readonly code: string;
  /** Human-readable, in one line, with secrets masked: the object, the field, expected and found, what to do. */
  readonly message: string;
  /** Whether a later attempt without any change may succeed. Left out: the code decides. */
  readonly retry?: boolean;
}

/** Temporary whatever the details: a full disk, or systemd while it shuts down. */
const TRANSIENT_CODES: ReadonlySet<string> = new Set(['SLW_DAEMON_DISK', 'SLW_DAEMON_SYSTEMD']);

/** Whether the config did not cause it, so that the same update may succeed later. */
export const isTransient = ({ code, retry }: Problem): boolean => retry ?? TRANSIENT_CODES.has(code);

/** Rethrows errors without a code: they are bugs. */
export function toCodedProblem(error: unknown): Problem {
  const problem = findCodedProblem(error);
  if (problem === null) throw error;
  return problem;
}

/** Null for errors without a code. An error of the disk has one: a disk that fails is no bug. */
export function findCodedProblem(error: unknown): Problem | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  if (systemErrorCode(error) !== undefined) {
    const { code, text } = describeError(error);
    return { code, message: text };
  }
  const { code, message } = error;
  return typeof code === 'string' && code.startsWith('SLW_') ? { code, message } : null;
}

/** Messages appear in the journal of the update, in annotations and in conditions. */
const MAX_MESSAGE = 2000;

/** Converts anything that a step of an update threw. */
export function toProblem(error: unknown, step: string): Problem {
  const { code, text } = describeError(error);
  const message = truncate(oneLine(maskSecrets(`${step}: ${text}`)), MAX_MESSAGE);
  const retry = error instanceof DaemonError ? error.retry : undefined;
  return { code, message, ...(retry !== undefined && { retry }) };
}

export function appendToProblem(problem: Problem, more: string): Problem {
  return { ...problem, message: truncate(`${problem.message}. ${more}`, MAX_MESSAGE) };
}

function describeError(error: unknown): { code: string; text: string } {
  if (error instanceof DaemonError || error instanceof FleetError) return { code: error.code, text: error.message };
  const text = error instanceof Error ? error.message : String(error);
  const system = systemErrorCode(error);
  if (system === undefined) return { code: 'SLW_DAEMON_STEP', text };
  return { code: 'SLW_DAEMON_DISK', text: `${text}. ${REMEDIATIONS[system] ?? DEFAULT_REMEDIATION}. ${RETRIED}` };
}

const RETRIED = 'The daemon retries automatically';
const FULL = 'Free space on that file system';
const DEFAULT_REMEDIATION = 'See the kernel log on the machine (journalctl -k)';
const REMEDIATIONS: Readonly<Record<string, string>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EROFS:
    'The file system is mounted read-only, often because the kernel found it damaged. See journalctl -k, repair it and remount it read-write',
  EIO: 'The disk is failing. See journalctl -k and replace it',
};
