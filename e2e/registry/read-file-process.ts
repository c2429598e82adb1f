import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Credential, RegistryOptions } from '@slipway/registry';

export interface ReadFileTask {
  options: Omit<RegistryOptions, 'credentials'>;
  credentials: [string, Credential][];
  reference: string;
  path: string;
  maxBytes: number;
}

export interface ReadFileResult {
  /** Bytes of memory before, and at the most. */
  before: number;
  peak: number;
  /** Null: the image has no such file. */
  sha256: string | null;
}

/** As ./slipway starts the controllers, who read release images. */
const flags = ['--max-semi-space-size=4'];

/** Reads a file out of an image as a process that does nothing else. */
export async function readFileInProcess(task: ReadFileTask): Promise<ReadFileResult> {
  const child = spawn(process.execPath, [...flags, join(import.meta.dirname, 'read-file-child.ts')], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(JSON.stringify(task));
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (code !== 0) throw new Error(`the process that reads ${task.path} ended with ${String(code)}: ${err}`);
  return JSON.parse(out) as ReadFileResult;
}
