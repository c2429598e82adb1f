import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchFile } from './configs.ts';

/**
 * The other side: writes every file next to its destination, syncs and renames it, one after another. No journal, no
 * rollback, no verification, no synced directory. Synchronous calls are twice as fast as promises here.
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
