// Surveys what an update changes on this machine, before anything is touched. Every obstacle is found here.
import { posix } from 'node:path';
import { truncate } from '@slipway/base/text';
import { type Change, type PathChange, type PathState, UNIT_DIRECTORY } from '@slipway/fleet';
import type { DesiredEntry, DesiredFile, DesiredMachine } from '../desired-machine.ts';
import { DaemonError } from '../errors.ts';
import type { FileSystem, FileInfo, Owners } from '../host/file-system.ts';
import type { Accounts, Host } from '../host/host.ts';
import { isTrustedUser } from '../host/link-rule.ts';
import { type Problem, toProblem } from '../problem.ts';
import { CURRENT_CONFIG, NO_ORIGINALS, ORIGINALS, UPDATE_DIRECTORY } from '../state-file.ts';
import {
  canUserChange,
  type Drop,
  findOriginal,
  noOriginalPath,
  originalPath,
  type Put,
  getTemporaryPath,
} from './moves.ts';
import { surveyPassword, surveySshKeys } from './survey-core-user.ts';

export interface Survey extends Readonly<SurveyFindings> {
  readonly directories: readonly NewDirectory[];
  readonly problems: readonly Problem[];
}

export interface SurveyedMove {
  readonly move: Put | Drop;
  /** Null for removals. */
  readonly make: EntrySource | null;
}

/** How a new entry is created. */
export type EntrySource =
  | (Owners & { readonly kind: 'file'; readonly mode: number; readonly bytes: () => Promise<Uint8Array> })
  | (Owners & { readonly kind: 'link'; readonly target: string })
  /** A hard link to an existing or staged entry. */
  | { readonly kind: 'hard link'; readonly target: string }
  | { readonly kind: 'original'; readonly at: string }
  /** A parent directory that is missing. */
  | { readonly kind: 'directory' };

interface SurveyFindings {
  readonly moves: SurveyedMove[];
  /** Paths that are new in the config, and whether the OS has something there. */
  readonly originals: { readonly path: string; readonly isThere: boolean }[];
  /** Stored originals that are obsolete after the update. */
  readonly endedOriginals: string[];
  oldPasswordHash: string | null;
}

export interface SurveyContext {
  readonly files: FileSystem;
  readonly accounts: Accounts;
  readonly desired: DesiredMachine;
  readonly notes: SurveyFindings;
  readonly parents: Parents;
  hasMove(path: string): boolean;
  isDropped(path: string): boolean;
  drop(path: string, held: Drop['held']): void;
  put(path: string, held: Put['held'], make: EntrySource, place: string): void;
}

/** A few obstacles are enough; a hundred would fill the condition. */
const MAX_PROBLEMS = 10;

export async function surveyUpdate(
  host: Pick<Host, 'files' | 'accounts'>,
  changes: readonly Change[],
  desired: DesiredMachine,
): Promise<Survey> {
  const context = createSurveyContext(host, desired);
  const problems: Problem[] = [];
  for (const change of changes) {
    try {
      await surveyChange(context, change);
    } catch (error) {
      problems.push(toProblem(error, `MachineConfig ${desired.config}, ${describeChange(change)}`));
      if (problems.length === MAX_PROBLEMS) break;
    }
  }
  if (problems.length === 0) await surveyHardLinks(context);
  return { ...context.notes, directories: context.parents.made, problems };
}

async function surveyChange(context: SurveyContext, change: Change): Promise<void> {
  switch (change.kind) {
    case 'path':
      return surveyPath(context, change);
    case 'unit':
      return change.after.unmasked ? removeForeignMask(context, change.unit) : undefined;
    case 'ssh keys':
      return surveySshKeys(context, change);
    case 'password':
      return surveyPassword(context, change);
    case 'kernel arguments':
    case 'extensions':
    case 'setting':
      // OS changes: see computeOSChange.
      return undefined;
  }
}

async function removeForeignMask(context: SurveyContext, unit: string): Promise<void> {
  const path = `${UNIT_DIRECTORY}/${unit}`;
  if (context.desired.entries.has(path) || context.hasMove(path)) return;
  const found = await context.files.lookAt(path);
  if (found?.kind === 'link' && found.target === '/dev/null') context.drop(path, 'entry');
}

function describeChange(change: Change): string {
  switch (change.kind) {
    case 'path':
      return `${change.after?.of ?? change.before?.of ?? 'path'} ${truncate(change.path, 300)}`;
    case 'unit':
      return `unit ${change.unit}`;
    case 'ssh keys':
    case 'password':
      return `${change.kind} of user ${change.user}`;
    case 'setting':
      return change.setting;
    case 'kernel arguments':
    case 'extensions':
      return change.kind;
  }
}

/** The state of a survey: the machine, and the findings so far. */
function createSurveyContext(
  { files, accounts }: Pick<Host, 'files' | 'accounts'>,
  desired: DesiredMachine,
): SurveyContext {
  const notes: SurveyFindings = { moves: [], originals: [], endedOriginals: [], oldPasswordHash: null };
  const moved = new Map<string, 'put' | 'drop'>();

  function drop(path: string, held: Drop['held']): void {
    moved.set(path, 'drop');
    notes.moves.push({ move: { kind: 'drop', number: notes.moves.length, path, held }, make: null });
  }

  function put(path: string, held: Put['held'], make: EntrySource, place: string): Put {
    const number = notes.moves.length;
    const what = make.kind === 'directory' ? 'directory' : 'entry';
    const stagedAt = posix.join(place, posix.basename(getTemporaryPath({ path, number })));
    const move: Put = { kind: 'put', number, path, what, stagedAt, held };
    moved.set(path, 'put');
    notes.moves.push({ move, make });
    return move;
  }

  const isDropped = (path: string): boolean => moved.get(path) === 'drop';
  const parents = createParents({
    files,
    isDropped,
    replace: (path) => put(path, 'nothing', { kind: 'directory' }, posix.dirname(path)),
  });
  return { files, accounts, desired, notes, parents, drop, put, isDropped, hasMove: (path) => moved.has(path) };
}

/** Limit for existing contents of a file that stays. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;
const MAX_LISTED = 10_000;
const ROOT = { id: 0 };

/** Records what is there, what replaces it, and what is restored to the OS's version. */
async function surveyPath(context: SurveyContext, change: PathChange): Promise<void> {
  if (isOwn(change.path)) throw refusal('the daemon uses this path for its own state: choose another one');
  const entry = context.desired.entries.get(change.path);
  if (change.after === null || entry === undefined) return surveyRemoval(context, change);
  return surveyEntry(context, change, entry);
}

function isOwn(path: string): boolean {
  const below = (directory: string) => path === directory || path.startsWith(`${directory}/`);
  return path === CURRENT_CONFIG || [UPDATE_DIRECTORY, ORIGINALS, NO_ORIGINALS].some(below);
}

/** Restores what the OS had at this path, or removes the entry. */
async function surveyRemoval(context: SurveyContext, { path, before }: PathChange): Promise<void> {
  const { files, notes } = context;
  const found = await files.lookAt(path);
  if (before?.kind === 'directory') {
    if (found?.kind === 'directory') context.drop(path, 'directory');
    return;
  }
  const original = await findOriginal(files, path);
  notes.endedOriginals.push(originalPath(path), noOriginalPath(path));
  const held = classifyHeld(found);
  if (held === 'directory') throw refusal('expected a file, found a directory: remove it from the machine');
  if (typeof original === 'object') return putEntry(context, path, held, { kind: 'original', at: original.at });
  if (held === 'entry' && !belongsToOS(original, before)) context.drop(path, 'entry');
}

/** If the config never had contents for the file, it is assumed to belong to the OS. */
function belongsToOS(original: 'nothing' | 'unknown', before: PathState | null): boolean {
  return original === 'unknown' && before?.kind === 'file' && before.keepsExisting;
}

async function surveyEntry(context: SurveyContext, { path, before }: PathChange, entry: DesiredEntry): Promise<void> {
  const parent = await findStagingDirectory(context, path);
  // A directory that does not exist yet has no entries.
  const found = parent === posix.dirname(path) ? await context.files.lookAt(path) : null;
  const make = await decideEntrySource(context, entry, found);
  if (make === null) return;
  const held = classifyHeld(found);
  if (held === 'directory') await mustBecomeEmpty(context, path);
  context.put(path, held, make, parent);
  if (before === null) context.notes.originals.push({ path, isThere: held === 'entry' });
}

async function putEntry(context: SurveyContext, path: string, held: Put['held'], make: EntrySource): Promise<void> {
  context.put(path, held, make, await findStagingDirectory(context, path));
}

async function findStagingDirectory({ accounts, parents }: SurveyContext, path: string): Promise<string> {
  return parents.placeFor(posix.dirname(path), { mode: 0o755, ...(await accounts.owners(ROOT, ROOT)) });
}

function classifyHeld(found: FileInfo | null): Put['held'] {
  if (found === null) return 'nothing';
  if (found.kind === 'other')
    throw refusal('expected a file, found a device, a socket or a pipe: remove it from the machine');
  return found.kind === 'directory' ? 'directory' : 'entry';
}

/** Null: the existing entry is already right. */
async function decideEntrySource(
  context: SurveyContext,
  entry: DesiredEntry,
  found: FileInfo | null,
): Promise<EntrySource | null> {
  switch (entry.kind) {
    case 'file':
      if (entry.keepsExisting && found !== null) return keepExisting(context, entry, found);
      return { kind: 'file', mode: entry.mode, bytes: entry.bytes, ...(await resolveOwners(context, entry)) };
    case 'link':
      return { kind: 'link', target: entry.target, ...(await resolveOwners(context, entry)) };
    case 'hard link':
      return { kind: 'hard link', target: entry.target };
    case 'directory':
      throw refusal(
        'directories of a config are created only at installation: remove it from the config, or reinstall the machine',
      );
  }
}

/** Existing contents stay, and so do mode and owners unless the config names them. */
async function keepExisting(context: SurveyContext, entry: DesiredFile, found: FileInfo): Promise<EntrySource | null> {
  if (found.kind !== 'file')
    throw refusal(`expected a file, found a ${found.kind}: remove it, or specify contents for the file`);
  const { leaves } = entry;
  const owners = await resolveOwners(context, entry);
  const mode = leaves.has('mode') ? found.mode : entry.mode;
  const uid = leaves.has('user') ? found.uid : owners.uid;
  const gid = leaves.has('group') ? found.gid : owners.gid;
  const isSame = mode === found.mode && uid === found.uid && gid === found.gid;
  if (isSame && entry.contents.size === 0) return null;
  const isMovable = isTrustedUser(found.uid) || uid !== found.uid || gid !== found.gid;
  if (isMovable && (await canUserChange(context.files, posix.dirname(entry.path))))
    throw refusal(
      `expected a file of ${uid}:${gid} that is not of root, found one of ${found.uid}:${found.gid} in a directory that a user can change, who may have moved it there: specify contents for the file, or correct its owner on the machine`,
    );
  const bytes = Buffer.concat([await context.files.read(entry.path, MAX_KEPT_BYTES, found.inode), await entry.bytes()]);
  return { kind: 'file', mode, uid, gid, bytes: async () => bytes };
}

async function resolveOwners(
  { accounts }: SurveyContext,
  { user, group }: Exclude<DesiredEntry, { kind: 'hard link' }>,
): Promise<Owners> {
  return accounts.owners(user, group);
}

/** A file replaces a directory only if the update removes everything in it. */
async function mustBecomeEmpty(context: SurveyContext, path: string): Promise<void> {
  const ahead = [path];
  let seen = 0;
  for (let directory = ahead.pop(); directory !== undefined; directory = ahead.pop()) {
    for (const name of await context.files.list(directory)) {
      const inside = posix.join(directory, name);
      seen += 1;
      if (seen > MAX_LISTED) throw notEmpty(`more than ${MAX_LISTED} entries`);
      if ((await context.files.lookAt(inside))?.kind === 'directory') ahead.push(inside);
      else if (!context.isDropped(inside)) throw notEmpty(inside);
    }
  }
}

const notEmpty = (what: string): DaemonError =>
  refusal(
    `expected a file or nothing, found a directory that contains ${what}, which is not part of the config: remove it from the machine`,
  );

/** When a file is replaced, its hard links must be recreated, or they would still refer to the old file. */
async function surveyHardLinks(context: SurveyContext): Promise<void> {
  for (const entry of context.desired.entries.values()) {
    if (entry.kind !== 'hard link' || context.hasMove(entry.path) || !context.hasMove(entry.target)) continue;
    const held = classifyHeld(await context.files.lookAt(entry.path));
    await putEntry(context, entry.path, held, { kind: 'hard link', target: entry.target });
  }
}

function refusal(why: string): DaemonError {
  return new DaemonError('SLW_DAEMON_PREFLIGHT', why);
}

interface NewDirectory extends Owners {
  readonly path: string;
  readonly mode: number;
}

interface Parents {
  /** Where the contents of a directory can be staged: in the directory, or where it is staged. */
  placeFor(directory: string, making: Omit<NewDirectory, 'path'>): Promise<string>;
  /** Top down. */
  readonly made: readonly NewDirectory[];
}

interface ParentsOptions {
  readonly files: FileSystem;
  /** Whether the update removes the file or link at the path first. */
  readonly isDropped: (path: string) => boolean;
  /** Registers a move that puts a directory where the removed entry was. */
  readonly replace: (path: string) => Put;
}

const MAX_LINKS = 40;

/**
 * The parent directories of new entries: existing ones, missing ones, and those whose path is still taken by a file.
 * The last are staged next to that file with all their contents, and replace it in one rename.
 */
function createParents({ files, isDropped, replace }: ParentsOptions): Parents {
  const places = new Map<string, string>();
  const made: NewDirectory[] = [];

  async function placeFor(directory: string, making: Omit<NewDirectory, 'path'>, links = 0): Promise<string> {
    const known = places.get(directory);
    if (known !== undefined) return known;
    const place = directory === '/' ? '/' : await find(directory, making, links);
    places.set(directory, place);
    return place;
  }

  async function find(directory: string, making: Omit<NewDirectory, 'path'>, links: number): Promise<string> {
    const above = posix.dirname(directory);
    const placeAbove = await placeFor(above, making, links);
    const place = posix.join(placeAbove, posix.basename(directory));
    if (placeAbove !== above) return make(place, making);
    const found = await files.lookAt(directory);
    if (found === null) return make(place, making);
    if (found.kind === 'directory') return place;
    if (isDropped(directory)) return make(getTemporaryPath(replace(directory)), making);
    if (found.kind !== 'link') throw notDirectory(directory);
    if (links >= MAX_LINKS)
      throw new DaemonError('SLW_DAEMON_PATH', `${directory} is part of a loop of symbolic links: break the loop`);
    // A link in a directory of a user may be another one by now: nothing is created where it leads.
    const behind = await files.lookAt(`${directory}/`);
    const isOfUser = behind?.kind === 'directory' && !isTrustedUser(behind.uid);
    if (!isOfUser) await placeFor(posix.resolve(above, found.target), making, links + 1);
    return place;
  }

  function make(path: string, making: Omit<NewDirectory, 'path'>): string {
    made.push({ ...making, path });
    return path;
  }

  return { placeFor, made };
}

function notDirectory(directory: string): DaemonError {
  return new DaemonError(
    'SLW_DAEMON_PREFLIGHT',
    `expected ${directory} to be a directory, found a file that is not part of the config: remove it from the machine, or choose another path`,
  );
}
