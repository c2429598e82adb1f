import { existsSync } from 'node:fs';
import { mkdir, realpath, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { markers } from './arguments.ts';
import { ToolsError } from './errors.ts';
import { layout, type Layout } from './layout.ts';
import { readHolder, tryLock, type Lock } from './lock.ts';
import { endByArgument } from './processes.ts';

const WATCHDOG = 'the watchdog of a launcher that was killed';
const WATCHDOG_WAIT_MS = 15_000;
const ETCD_GRACE_MS = 3000;

export interface DataDir {
  path: string;
  at: Layout;
  lock: Lock;
}

/** Locks the directory for this launcher and ends programs that a killed launcher left running. */
export async function claimDataDir(wanted: string, fresh: boolean): Promise<DataDir> {
  const path = await makeDirectory(wanted);
  const at = layout(path);
  const lock = await lockDataDir(path, at);
  try {
    await endLeftovers(at);
    if (fresh) await emptyDataDir(at);
    for (const dir of [at.pki, at.kubeconfigs, at.logs]) await mkdir(dir, { recursive: true, mode: 0o700 });
    return { path, at, lock };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Ends leftover programs of a data directory whose launcher was killed, unless a new launcher has taken over. */
export async function clearUpAfterKill(path: string): Promise<void> {
  const at = layout(path);
  if (!existsSync(path)) {
    await endLeftovers(at);
    return;
  }
  const lock = tryLock(at.lock, WATCHDOG);
  if (lock === undefined) return;
  await endLeftovers(at);
  lock.release();
}

async function makeDirectory(wanted: string): Promise<string> {
  try {
    await mkdir(wanted, { recursive: true, mode: 0o700 });
    return await realpath(wanted);
  } catch (error) {
    throw unusable(wanted, error);
  }
}

async function lockDataDir(path: string, at: Layout): Promise<Lock> {
  const until = Date.now() + WATCHDOG_WAIT_MS;
  for (;;) {
    const lock = openLock(path, at);
    if (lock !== undefined) return lock;
    const holder = readHolder(at.lock);
    if (holder !== WATCHDOG || Date.now() > until) {
      throw new ToolsError(
        'SLW_TOOLS_DATA_DIR_IN_USE',
        `the data directory ${path} is in use by ${holder}: stop it, or choose another with --data-dir`,
      );
    }
    await delay(100);
  }
}

function openLock(path: string, at: Layout): Lock | undefined {
  try {
    return tryLock(at.lock);
  } catch (error) {
    throw unusable(path, error);
  }
}

function unusable(path: string, error: unknown): ToolsError {
  const why = error instanceof Error ? error.message : String(error);
  return new ToolsError(
    'SLW_TOOLS_DATA_DIR',
    `the data directory ${resolve(path)} cannot be used (${why}): choose another with --data-dir`,
  );
}

async function endLeftovers(at: Layout): Promise<void> {
  const { etcd, ...stateless } = markers(at);
  // These have no state, and would wait long for an etcd that is gone.
  await endByArgument(new Set(Object.values(stateless)), 0);
  await endByArgument(new Set([etcd]), ETCD_GRACE_MS);
}

/** Removes only what the launcher created: the directory may contain other files. */
async function emptyDataDir(at: Layout): Promise<void> {
  for (const path of [at.etcdData, at.pki, at.logs, at.kubeconfigs, at.adminKubeconfig]) {
    await rm(path, { recursive: true, force: true });
  }
}
