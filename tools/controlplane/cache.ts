import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { waitForLock } from './lock.ts';
import type { Progress } from './progress.ts';

/** The user's cache directory on this platform. */
export function cacheRoot(env: NodeJS.ProcessEnv, platform: NodeJS.Platform, home: string): string {
  const set = env['XDG_CACHE_HOME'];
  if (set !== undefined && set.startsWith('/')) return set;
  return platform === 'darwin' ? join(home, 'Library', 'Caches') : join(home, '.cache');
}

/** The cache path for this name. */
export function cachedPath(env: NodeJS.ProcessEnv, name: string): string {
  return join(cacheRoot(env, process.platform, homedir()), 'slipway', name);
}

export interface Making {
  /** What the lock holder is doing, shown to waiting processes: `is building CRI-O`. */
  readonly doing: string;
  readonly progress: Progress;
  readonly isThere: () => Promise<boolean>;
  /** Builds it in a temporary directory and moves it into place. */
  readonly make: (temporary: string) => Promise<void>;
}

/** Builds a missing item once, even if several processes find it missing. The next run removes unfinished output. */
export async function makeOnce(path: string, { doing, progress, isThere, make }: Making): Promise<void> {
  if (await isThere()) return;
  await mkdir(dirname(path), { recursive: true });
  const lock = await waitForLock(`${path}.lock`, doing, progress);
  try {
    if (await isThere()) return;
    // Remove leftovers of killed runs; this process has the lock, so no other writes there.
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

/** Programs built from the same pins in the same way share a directory; a change of either starts a new one. */
export function cacheDirectory(root: string, pins: readonly string[]): string {
  const hash = createHash('sha256');
  // Lengths, so that moving a line from one file to the next is a change.
  for (const pin of pins) hash.update(`${pin.length}\n${pin}`);
  return join(root, 'slipway', `controlplane-${hash.digest('hex').slice(0, 12)}`);
}

export type Cached = 'good' | 'absent' | 'damaged';

// Hashing 200 MB takes a third of a second: a verified program stays trusted until its file changes.
const foundGood = new Map<string, string>();

/** The checksum is written last: a program without a matching one is unfinished or damaged. */
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

/** Moves a newly built program into place. */
export async function storeCached(built: string, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const sum = await checksum(built);
  await writeFile(sumFile(built), `${sum}\n`);
  const path = join(directory, basename(built));
  await rename(built, path);
  await rename(sumFile(built), sumFile(path));
}

const sumFile = (path: string) => `${path}.sum`;

// Detects damage, not an attacker, who could write the checksum as well: so use the fastest hash in Node.
async function checksum(path: string): Promise<string> {
  const hash = createHash('blake2b512');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}
