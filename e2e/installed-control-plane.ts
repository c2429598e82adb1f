import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import {
  borrowControlPlane,
  silentProgress,
  startControlPlane,
  waitForLock,
  type ControlPlane,
  type ControlPlaneOptions,
} from '@slipway/tools/controlplane';
import { inject } from 'vitest';
import { runSlipway } from './slipway-process.ts';

/**
 * A control plane of its own in which Slipway is installed. An installation costs the API server more than its start:
 * the first test of a run that asks for one makes it, and every control plane begins with a copy of it. One without
 * options may have served another test before, of which nothing is left.
 */
export async function startInstalledControlPlane(
  options: Omit<ControlPlaneOptions, 'dataDir' | 'copyOf'> = {},
): Promise<ControlPlane> {
  const copyOf = await installation();
  return Object.keys(options).length === 0 ? borrowControlPlane({ copyOf }) : startControlPlane({ ...options, copyOf });
}

async function installation(): Promise<string> {
  const directory = inject('installations');
  const finished = join(directory, 'finished');
  if (existsSync(finished)) return finished;
  const lock = await waitForLock(join(directory, 'lock'), 'is installing Slipway for all tests', silentProgress);
  try {
    if (!existsSync(finished)) await install(join(directory, 'unfinished'), finished);
  } finally {
    lock.release();
  }
  return finished;
}

async function install(unfinished: string, finished: string): Promise<void> {
  const controlPlane = await startControlPlane({ dataDir: unfinished, fresh: true });
  try {
    const { code, err } = await runSlipway('install', '--kubeconfig', controlPlane.kubeconfig);
    if (code !== 0) throw new Error(`slipway install failed: ${err}`);
  } finally {
    await controlPlane.stop();
  }
  await rename(unfinished, finished);
}
