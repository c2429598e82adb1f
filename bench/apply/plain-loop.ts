import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchFile } from './configs.ts';

/**
 * The other side: every file is written beside its place, synced and renamed, one after the other. No journal, no way back,
 * nothing verified, and no directory synced. By synchronous calls, which are twice as fast as promises here.
 */
export function writeAll(root: string, files: readonly BenchFile[]): void {
  for (const { path, bytes } of files) {
    const place = join(root, path);
    const handle = openSync(`${place}.new`, 'wx', 0o644);
    writeSync(handle, bytes);
    fsyncSync(handle);
    closeSync(handle);
    renameSync(`${place}.new`, place);
  }
}
