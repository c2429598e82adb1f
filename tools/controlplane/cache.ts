import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { waitForLock } from './lock.ts';
import type { Progress } from './progress.ts';

/** The user's cache directory, as the platform has it. */
export function cacheRoot(env: NodeJS.ProcessEnv, platform: NodeJS.Platform, home: string): string {
  const set = env['XDG_CACHE_HOME'];
  if (set !== undefined && set.startsWith('/')) return set;
  return platform === 'darwin' ? join(home, 'Library', 'Caches') : join(home, '.cache');
}

/** Where something of this name is kept between runs. */
export function cachedPath(env: NodeJS.ProcessEnv, name: string): string {
  return join(cacheRoot(env, process.platform, homedir()), 'slipway', name);
}

export interface Making {
  /** What the holder of the lock does, for those who wait: `is building CRI-O`. */
  readonly doing: string;
  readonly progress: Progress;
  readonly isThere: () => Promise<boolean>;
  /** Makes it in a directory that is gone afterwards, and moves it to its place. */
  readonly make: (temporary: string) => Promise<void>;
}

/** Makes what is not there yet, once, also where several processes find it missing. Nothing unfinished is left, or only until the next. */
export async function makeOnce(path: string, { doing, progress, isThere, make }: Making): Promise<void> {
  if (await isThere()) return;
  await mkdir(dirname(path), { recursive: true });
  const lock = await waitForLock(`${path}.lock`, doing, progress);
  try {
    if (await isThere()) return;
    // What killed runs left beside; we hold the lock, so nobody is writing there.
    const unfinished = `${basename(path)}.unfinished-`;
    for (const name of await readdir(dirname(path))) {
      if (name.startsWith(unfinished)) await rm(join(dirname(path), name), { recursive: true, force: true });
    }
    const temporary = await mkdtemp(join(dirname(path), unfinished));
    try {
      await make(temporary);
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
  } finally {
    lock.release();
  }
}

/** Programs built from the same pins in the same way share a directory; a change of either begins a new one. */
export function cacheDirectory(root: string, pins: readonly string[]): string {
  const hash = createHash('sha256');
  // Lengths, so that a line moved from one file to the next is a change.
  for (const pin of pins) hash.update(`${pin.length}\n${pin}`);
  return join(root, 'slipway', `controlplane-${hash.digest('hex').slice(0, 12)}`);
}

export type Cached = 'good' | 'absent' | 'damaged';

// Summing 200 MB takes a third of a second: a program that this process found good stays so while nobody touches it.
const foundGood = new Map<string, string>();

/** The sum is written last: a program without one, or that no longer has it, is unfinished or damaged. */
export async function inspectCached(path: string): Promise<Cached> {
  const touched = await lastTouch(path);
  if (touched !== undefined && foundGood.get(path) === touched) return 'good';
  const [expected, found] = await Promise.all([
    readFile(sumFile(path), 'utf8').catch(() => undefined),
    checksum(path).catch(() => undefined),
  ]);
  if (found === undefined && expected === undefined) return 'absent';
  if (found === undefined || expected?.trim() !== found) return 'damaged';
  if (touched !== undefined) foundGood.set(path, touched);
  return 'good';
}

async function lastTouch(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found && `${found.ino} ${found.size} ${found.ctimeNs}`;
}

/** Moves a program that has just been built to its place. */
export async function storeCached(built: string, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const sum = await checksum(built);
  await writeFile(sumFile(built), `${sum}\n`);
  const path = join(directory, basename(built));
  await rename(built, path);
  await rename(sumFile(built), sumFile(path));
}

const sumFile = (path: string) => `${path}.sum`;

// Against damage, not against an enemy, who could write the sum as well: so the fastest that Node has.
async function checksum(path: string): Promise<string> {
  const hash = createHash('blake2b512');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}
