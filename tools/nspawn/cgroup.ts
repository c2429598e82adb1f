import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * The cgroups of a node: one in the version 2 hierarchy and, if the machine also has version 1, one in systemd's. Two
 * nodes in one cgroup would each consider the other's processes their own.
 */
export async function cgroupsFor(name: string): Promise<string[]> {
  return findHierarchies(await readFile('/proc/self/mounts', 'utf8')).map((place) => join(place, name));
}

/** Mount points in /proc/self/mounts of the hierarchies in which systemd manages its units. */
export function findHierarchies(mounts: string): string[] {
  return mounts.split('\n').flatMap((line) => {
    const [, place = '', type, options = ''] = line.split(' ');
    const writable = options.split(',').includes('rw');
    const keepsUnits = type === 'cgroup2' || (type === 'cgroup' && options.split(',').includes('name=systemd'));
    return keepsUnits && writable ? [place] : [];
  });
}

const FREEZE_MS = 10_000;

/**
 * Kills every process in them as if between two instructions. They are frozen first: otherwise the last ones would
 * observe the first ones dying and could react.
 */
export async function killAtOnce(cgroups: readonly string[]): Promise<void> {
  // Only version 2 has this file, and every process of the node is in its hierarchy.
  for (const cgroup of cgroups.filter((each) => existsSync(join(each, 'cgroup.freeze')))) {
    await writeFile(join(cgroup, 'cgroup.freeze'), '1');
    await waitUntilFrozen(cgroup);
    // Not with cgroup.kill: on Linux 6.18, services of the next boot in the same cgroups were then killed at start.
    for (const pid of await processesIn(cgroup)) process.kill(pid, 'SIGKILL');
    await writeFile(join(cgroup, 'cgroup.freeze'), '0');
  }
}

async function processesIn(cgroup: string): Promise<number[]> {
  const entries = await readdir(cgroup, { recursive: true, withFileTypes: true });
  const lists = entries.filter(({ name }) => name === 'cgroup.procs');
  const texts = await Promise.all(lists.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')));
  return texts.flatMap((text) => text.split('\n').filter(Boolean).map(Number));
}

async function waitUntilFrozen(cgroup: string): Promise<void> {
  const until = Date.now() + FREEZE_MS;
  while (!/^frozen 1$/m.test(await readFile(join(cgroup, 'cgroup.events'), 'utf8'))) {
    if (Date.now() > until) throw new Error(`${cgroup} is not frozen after ${FREEZE_MS / 1000} s`);
    await delay(1);
  }
}
