import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { Progress } from './progress.ts';

/**
 * A lock that the kernel releases when its holder dies in any way: an exclusive SQLite transaction on an empty file.
 * Node has no flock, and taking over a stale pid file is a race between two processes.
 */
export interface Lock {
  release(): void;
}

// An unreferenced database is closed by the garbage collector, which would release the lock.
const held = new Set<DatabaseSync>();

const SQLITE_BUSY = 5;

/** Takes the lock, or returns undefined immediately if another process (or this one) holds it. */
export function tryLock(path: string, holder = `process ${process.pid}`): Lock | undefined {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  held.add(database);
  writeFileSync(holderFile(path), holder);
  return {
    release() {
      if (!held.delete(database)) return;
      rmSync(holderFile(path), { force: true });
      database.close();
    },
  };
}

/** Waits for the lock and meanwhile shows what its holder is doing. */
export async function waitForLock(path: string, doing: string, progress: Progress): Promise<Lock> {
  for (;;) {
    const lock = tryLock(path);
    if (lock !== undefined) {
      progress.clear();
      return lock;
    }
    progress.update(`waiting for ${readHolder(path)}, which ${doing}`);
    await delay(500);
  }
}

/** The lock's holder, for messages only: the file is a note, the lock itself is the kernel's. */
export function readHolder(path: string): string {
  try {
    return readFileSync(holderFile(path), 'utf8');
  } catch {
    return 'another process';
  }
}

const holderFile = (path: string) => `${path}.holder`;

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}
