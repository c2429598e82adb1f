// Input and output of a command, so that tests can run it without a process; and the small files that flags name.
import { open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { maskSecrets } from '@slipway/base/masking';
import { CommandError } from './errors.ts';
import { safeLine } from './terminal.ts';

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

/** The exit code that shells report for a program that Ctrl-C ended. */
export const INTERRUPTED = 130;

export interface WriteOptions {
  /** The user asked to see secrets. Default: false. */
  readonly showSecrets?: boolean | undefined;
}

/** For terminals and CI logs: without secrets. */
export const write = (stream: Writable, text: string, { showSecrets = false }: WriteOptions = {}): Promise<void> =>
  writeArtifact(stream, showSecrets ? text : maskSecrets(text));

/**
 * Writes a config that is applied or booted, which must be complete. Resolves when the stream has accepted the text, so
 * that a slow reader slows the writer.
 */
export function writeArtifact(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (failure) => (failure ? reject(failure) : resolve()));
  });
}

/** Notes and warnings, one line each: names in them come from files. */
export const writeLines = (stream: Writable, lines: readonly string[]): Promise<void> =>
  write(stream, lines.map((line) => `${safeLine(line)}\n`).join(''));

/** The format of `-o json`. Masked before it becomes JSON: a secret may span lines, and the result must stay JSON. */
export const toJson = (value: unknown, { showSecrets = false }: WriteOptions = {}): string =>
  `${JSON.stringify(value, showSecrets ? undefined : maskStrings, 2)}\n`;

export const maskStrings = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? maskSecrets(value) : value;

/** The complete config in JSON. */
export const toArtifactJson = (value: unknown): string => toJson(value, { showSecrets: true });

/** Prints a line now and then during a long operation. */
export type Progress = (text: string) => void;

/** Shorter operations print no progress. */
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

/** Pull secrets, certificates and registries.conf are a few kilobytes; image-references is a few hundred. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Reads a file that a flag names, and refuses a large one. */
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
    if (size > MAX_BYTES) throw bad(`expected at most ${MAX_BYTES} bytes, found a larger file`);
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw bad(`cannot be read: ${describeSystemError(error)}`, error);
  }
}

/** The same as text; undefined without the flag. */
export const readSmallText = async (flag: string, path: string | undefined): Promise<string | undefined> =>
  path === undefined ? undefined : new TextDecoder().decode(await readSmallFile(flag, path));

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
  ELOOP: 'its symbolic links form a loop',
};

/** Describes why the operating system refused. */
export function describeSystemError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
  return reasons[code] ?? code;
}
