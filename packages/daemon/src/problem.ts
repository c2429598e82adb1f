// What stands in the way of a node, for people: as it is told, and how it is made of an error.
import { truncate } from '@slipway/base/text';
import { FleetError } from '@slipway/fleet';
import { DaemonError } from './errors.ts';
import { systemErrorCode } from './host/file-system.ts';

/** For annotations, conditions and logs. */
export interface Problem {
  /** SLW_… */
  readonly code: string;
  /** For people, with secrets masked: the object, the field, expected and found, the way out. */
  readonly message: string;
}

/** Of an error that was foreseen, as it is. Others are bugs: they are thrown again. */
export function toCodedProblem(error: unknown): Problem {
  const problem = findCodedProblem(error);
  if (problem === null) throw error;
  return problem;
}

/** Of an error that was foreseen, as it is; null for others. */
export function findCodedProblem(error: unknown): Problem | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  const { code, message } = error;
  return typeof code === 'string' && code.startsWith('SLW_') ? { code, message } : null;
}

/** Messages go into the log of the update, into annotations and conditions. */
const MAX_MESSAGE = 2000;

/** Of anything that a step of an update threw. */
export function toProblem(error: unknown, step: string): Problem {
  const { code, text } = describeError(error);
  return { code, message: truncate(`${step}: ${text}`, MAX_MESSAGE) };
}

export function appendToProblem({ code, message }: Problem, more: string): Problem {
  return { code, message: truncate(`${message}. ${more}`, MAX_MESSAGE) };
}

function describeError(error: unknown): { code: string; text: string } {
  if (error instanceof DaemonError || error instanceof FleetError) return { code: error.code, text: error.message };
  const text = error instanceof Error ? error.message : String(error);
  const system = systemErrorCode(error);
  if (system === undefined) return { code: 'SLW_DAEMON_STEP', text };
  return { code: 'SLW_DAEMON_DISK', text: `${text}. ${REMEDIATIONS[system] ?? DEFAULT_REMEDIATION}` };
}

const FULL = 'Free space on that file system: the update is tried again by itself';
const DEFAULT_REMEDIATION = 'See the kernel’s log on the node (journalctl -k)';
const REMEDIATIONS: Readonly<Record<string, string>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EROFS:
    'The file system is mounted read-only, often because the kernel found it damaged: see journalctl -k, repair it and mount it writable',
  EIO: 'The disk fails: see journalctl -k, and replace it',
};
