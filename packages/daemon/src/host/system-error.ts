import { getSystemErrorMessage } from 'node:util';
import { DaemonError } from '../errors.ts';

/** Such as ENOSPC; undefined: not an error of the operating system. */
export function systemErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('errno' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** The same error, but with the path that people know in place of that of an open handle. */
export function ofMachine(error: unknown, operation: string, path: string): unknown {
  if (error instanceof DaemonError || !(error instanceof Error) || !('errno' in error)) return error;
  const { errno } = error;
  const code = systemErrorCode(error);
  if (typeof errno !== 'number' || code === undefined) return error;
  const text = `${code}: ${getSystemErrorMessage(errno)}, ${operation} ${path}`;
  return Object.assign(new Error(text, { cause: error }), { code, errno, path });
}
