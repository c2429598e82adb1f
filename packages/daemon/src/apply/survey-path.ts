// One path of an update: what is there, what comes in its place, what goes back to the OS.
import { posix } from 'node:path';
import type { PathChange, PathState } from '@slipway/fleet';
import type { DesiredEntry, DesiredFile } from '../desired-machine.ts';
import { DaemonError } from '../errors.ts';
import type { Found, Owners } from '../host/file-system.ts';
import { CURRENT_CONFIG, NO_ORIGINALS, ORIGINALS, UPDATE_DIRECTORY } from '../node-paths.ts';
import type { Put } from './move.ts';
import { findOriginal, noOriginalPath, originalPath } from './originals.ts';
import type { Make, Site } from './site.ts';

/** Of what the OS has in a file that stays. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;
const MAX_LISTED = 10_000;
const ROOT = { id: 0 };

export async function surveyPath(site: Site, change: PathChange): Promise<void> {
  if (isOwn(change.path)) throw refusal('the path is the daemon’s own: choose another one');
  const entry = site.desired.entries.get(change.path);
  if (change.after === null || entry === undefined) return leave(site, change);
  return come(site, change, entry);
}

function isOwn(path: string): boolean {
  const below = (directory: string) => path === directory || path.startsWith(`${directory}/`);
  return path === CURRENT_CONFIG || [UPDATE_DIRECTORY, ORIGINALS, NO_ORIGINALS].some(below);
}

/** Back to what the OS has at this path, else nothing. */
async function leave(site: Site, { path, before }: PathChange): Promise<void> {
  const { files, notes } = site;
  const found = await files.lookAt(path);
  if (before?.kind === 'directory') {
    if (found?.kind === 'directory') site.drop(path, 'directory');
    return;
  }
  const original = await findOriginal(files, path);
  notes.endedOriginals.push(originalPath(path), noOriginalPath(path));
  const held = heldBy(found);
  if (held === 'directory') throw refusal('expected a file, found a directory: remove it from the machine');
  if (typeof original === 'object') return place(site, path, held, { kind: 'original', at: original.at });
  if (held === 'entry' && !isTheirs(original, before)) site.drop(path, 'entry');
}

/** What the config never had contents for is the OS's own, as far as anybody knows. */
function isTheirs(original: 'nothing' | 'unknown', before: PathState | null): boolean {
  return original === 'unknown' && before?.kind === 'file' && before.keepsExisting;
}

async function come(site: Site, { path, before }: PathChange, entry: DesiredEntry): Promise<void> {
  const parent = await placeIn(site, path);
  // In a directory that is not there yet nothing can be found.
  const found = parent === posix.dirname(path) ? await site.files.lookAt(path) : null;
  const make = await makeOf(site, entry, found);
  if (make === null) return;
  const held = heldBy(found);
  if (held === 'directory') await mustBecomeEmpty(site, path);
  site.put(path, held, make, parent);
  if (before === null) site.notes.originals.push({ path, isThere: held === 'entry' });
}

async function place(site: Site, path: string, held: Put['held'], make: Make): Promise<void> {
  site.put(path, held, make, await placeIn(site, path));
}

async function placeIn({ accounts, parents }: Site, path: string): Promise<string> {
  return parents.placeFor(posix.dirname(path), { mode: 0o755, ...(await accounts.owners(ROOT, ROOT)) });
}

function heldBy(found: Found | null): Put['held'] {
  if (found === null) return 'nothing';
  if (found.kind === 'other')
    throw refusal('expected a file, found a device, a socket or a pipe: remove it from the machine');
  return found.kind === 'directory' ? 'directory' : 'entry';
}

/** Null: what is there is right as it is. */
async function makeOf(site: Site, entry: DesiredEntry, found: Found | null): Promise<Make | null> {
  switch (entry.kind) {
    case 'file':
      if (entry.keepsExisting && found !== null) return keepExisting(site, entry, found);
      return { kind: 'file', mode: entry.mode, bytes: entry.bytes, ...(await ownersOf(site, entry)) };
    case 'link':
      return { kind: 'link', target: entry.target, ...(await ownersOf(site, entry)) };
    case 'hard link':
      return { kind: 'hard link', target: entry.target };
    case 'directory':
      throw refusal(
        'a directory of a config is made when a machine is installed: take it back, or install the machine anew',
      );
  }
}

/** What is in the file stays, and so do mode and owners where the config does not name them. */
async function keepExisting(site: Site, entry: DesiredFile, found: Found): Promise<Make | null> {
  if (found.kind !== 'file')
    throw refusal(`expected a file, found a ${found.kind}: remove it, or give the file contents`);
  const { leaves } = entry;
  const owners = await ownersOf(site, entry);
  const mode = leaves.has('mode') ? found.mode : entry.mode;
  const uid = leaves.has('user') ? found.uid : owners.uid;
  const gid = leaves.has('group') ? found.gid : owners.gid;
  const isSame = mode === found.mode && uid === found.uid && gid === found.gid;
  if (isSame && entry.contents.size === 0) return null;
  const bytes = Buffer.concat([await site.files.read(entry.path, MAX_KEPT_BYTES), await entry.bytes()]);
  return { kind: 'file', mode, uid, gid, bytes: async () => bytes };
}

async function ownersOf(
  { accounts }: Site,
  { user, group }: Exclude<DesiredEntry, { kind: 'hard link' }>,
): Promise<Owners> {
  return accounts.owners(user, group);
}

/** A file takes the place of a directory only if all in it goes with the update. */
async function mustBecomeEmpty(site: Site, path: string): Promise<void> {
  const ahead = [path];
  let seen = 0;
  for (let directory = ahead.pop(); directory !== undefined; directory = ahead.pop()) {
    for (const name of await site.files.list(directory)) {
      const inside = posix.join(directory, name);
      seen += 1;
      if (seen > MAX_LISTED) throw notEmpty(`more than ${MAX_LISTED} things`);
      if ((await site.files.lookAt(inside))?.kind === 'directory') ahead.push(inside);
      else if (!site.isDropped(inside)) throw notEmpty(inside);
    }
  }
}

const notEmpty = (what: string): DaemonError =>
  refusal(
    `expected a file or nothing, found a directory with ${what} in it, which is not the config’s: remove it from the machine`,
  );

/** A second name of a file that is replaced would stay one of the old file. */
export async function surveyHardLinks(site: Site): Promise<void> {
  for (const entry of site.desired.entries.values()) {
    if (entry.kind !== 'hard link' || site.hasMove(entry.path) || !site.hasMove(entry.target)) continue;
    const held = heldBy(await site.files.lookAt(entry.path));
    await place(site, entry.path, held, { kind: 'hard link', target: entry.target });
  }
}

function refusal(why: string): DaemonError {
  return new DaemonError('SLW_DAEMON_PREFLIGHT', why);
}
