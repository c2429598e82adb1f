// What a failure on the machine means for its pins.
import { DaemonError } from '../errors.ts';
import { systemErrorCode } from '../host/system-error.ts';
import type { Problem } from '../problem.ts';

/** Null: nobody foresaw it. */
export function problemIn(error: unknown): Problem | null {
  if (!(error instanceof Error)) return null;
  const code = 'code' in error ? error.code : undefined;
  if (typeof code === 'string' && code.startsWith('SLW_')) return { code, message: error.message };
  if (systemErrorCode(error) === undefined) return null;
  return {
    code: 'SLW_DAEMON_DISK',
    message: `${error.message}. Pins stay as they are until the disk takes the change; it is tried again by itself`,
  };
}

export const isOutage = (error: unknown): error is DaemonError =>
  error instanceof DaemonError && error.code === 'SLW_PINNING_RUNTIME';

/** Of a disk that refuses: that is no bug. */
export function asForeseen(error: unknown): unknown {
  if (systemErrorCode(error) === undefined) return error;
  return new DaemonError('SLW_DAEMON_DISK', problemIn(error)?.message ?? '', { cause: error });
}
