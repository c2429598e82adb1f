// The process as commands see it, so that tests can run them without one; and the small files that flags name.
import { open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { CommandError } from './errors.ts';

export interface Io {
  stdin: AsyncIterable<Uint8Array>;
  stdout: Writable;
  stderr: Writable;
  setExitCode: (code: number) => void;
}

export const processIo: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  setExitCode: (code) => {
    process.exitCode = code;
  },
};

/** The exit code that a shell has for a program that Ctrl-C ended. */
export const INTERRUPTED = 130;

/** Done when the text is handed on, so that a slow reader slows the writer. */
export function write(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (failure) => (failure ? reject(failure) : resolve()));
  });
}

/** Notes and warnings: a line each. */
export const writeLines = (stream: Writable, lines: readonly string[]): Promise<void> =>
  write(stream, lines.map((line) => `${line}\n`).join(''));

/** As `-o json` has it. */
export const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** A word now and then while it takes long. */
export type Progress = (text: string) => void;

/** Who has to wait longer than this wonders. */
const FIRST_MS = 2000;
const EVERY_MS = 1000;

export function createProgress(stderr: Writable, now: () => number = () => performance.now()): Progress {
  let next = now() + FIRST_MS;
  return (text) => {
    if (now() < next) return;
    next = now() + EVERY_MS;
    stderr.write(`${text}\n`);
  };
}

/** Pull secrets, certificates and registries.conf are a few kilobytes; image-references has some hundred. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The contents of a file that a flag names, which must not be large. */
export async function readSmallFile(flag: string, path: string): Promise<Uint8Array> {
  const bad = (problem: string, cause?: unknown): CommandError =>
    new CommandError('SLW_CLI_FILE', `${flag} ${path}: ${problem}`, { cause });
  try {
    await using file = await open(path);
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of file.createReadStream({ autoClose: false, end: MAX_BYTES })) {
      const bytes = chunk as Buffer;
      size += bytes.length;
      chunks.push(bytes);
    }
    if (size > MAX_BYTES) throw bad(`expected at most ${MAX_BYTES} bytes, found more`);
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw bad(`it cannot be read: ${describeSystemError(error)}`, error);
  }
}

/** The same as text; undefined where the flag was not given. */
export const readSmallText = async (flag: string, path: string | undefined): Promise<string | undefined> =>
  path === undefined ? undefined : new TextDecoder().decode(await readSmallFile(flag, path));

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
  ELOOP: 'its links lead in a circle',
};

/** Why the system refused, in words. */
export function describeSystemError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
  return reasons[code] ?? code;
}
