// Stages everything that an update needs next to what the machine uses, so that neither the update nor its rollback
// needs space. Nothing that the machine uses changes.
import { posix } from 'node:path';
import { forEachLimit } from '@slipway/base/concurrency';
import { computeOSChange, type UpdatePlan } from '@slipway/fleet';
import { type FileSystem, ownOwners, systemErrorCode } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';
import { type Problem, toProblem } from '../problem.ts';
import { CURRENT_CONFIG, STATE_DIRECTORY, UPDATE_DIRECTORY } from '../state-file.ts';
import { encodeStoredConfig, type StoredConfig } from '../stored-config.ts';
import { cleanUpOld } from './clean-up.ts';
import { createJournal, type Journal, type OpenJournal } from './journal.ts';
import {
  getSiblingBackupPath,
  BACKUP_DIRECTORY,
  getBackupPath,
  type Move,
  noOriginalPath,
  originalPath,
  type Put,
  syncDirectories,
  SYNCS_AT_ONCE,
  getTemporaryPath,
} from './moves.ts';
import { type PassedPreflight, preflight } from './preflight.ts';
import { runSteps, computeMark, planUnitSteps } from './steps.ts';
import type { EntrySource, Survey, SurveyedMove } from './survey.ts';

export interface UpdateRequest {
  readonly from: StoredConfig;
  readonly to: StoredConfig;
  readonly plan: Pick<UpdatePlan, 'changes' | 'actions' | 'irreconcilable'>;
  /** Taken right before this call: its findings must still be true. Left out: the machine is checked now. */
  readonly preflight?: PassedPreflight;
}

export type StageResult =
  | { readonly ok: true; readonly journal: OpenJournal }
  /** `isLeftOver`: staged files could not be removed. The machine itself is untouched. */
  | { readonly ok: false; readonly problem: Problem; readonly isLeftOver: boolean };

/** Returns the staged update, or the reason why it could not be staged. */
export async function stageUpdate(host: Host, request: UpdateRequest, programVersion: string): Promise<StageResult> {
  const { files } = host;
  const found = request.preflight ?? (await preflight(host, request));
  if (found.type !== 'passed') return { ok: false, problem: found.problem, isLeftOver: false };
  let journal: Journal | null = null;
  try {
    journal = await buildJournal(host, request, found);
    await makeUpdateDirectory(files);
    return { ok: true, journal: await stage(files, journal, found.survey, programVersion) };
  } catch (error) {
    const problem = toProblem(error, `staging the update to ${request.to.name}`);
    return { ok: false, problem, isLeftOver: journal !== null && !(await isCleanedUp(files, journal)) };
  }
}

async function isCleanedUp(files: FileSystem, journal: Journal): Promise<boolean> {
  return (await runSteps([{ name: 'cleaning up', act: () => cleanUpOld(files, journal) }])) === null;
}

/** The complete description of the update. From here on the plan is not used. */
async function buildJournal(
  host: Host,
  { from, to, plan: { changes, actions } }: UpdateRequest,
  { survey, desired }: PassedPreflight,
): Promise<Journal> {
  const moves = survey.moves.map(({ move }) => move);
  const isOSChanged = computeOSChange(changes, from.spec, to.spec) !== null;
  return {
    from: withoutContents(from),
    to,
    changes,
    actions: actions.filter(({ type }) => type !== 'Drain'),
    moves,
    commit: await buildCommitMove(host.files, moves.length),
    madeDirectories: survey.directories.map(({ path }) => path),
    madeOriginals: survey.originals.map(({ path, isThere }) => (isThere ? originalPath(path) : noOriginalPath(path))),
    endedOriginals: survey.endedOriginals,
    units: await planUnitSteps(changes, desired.entries.values(), (unit) => host.systemd.enablement(unit)),
    oldPasswordHash: survey.oldPasswordHash,
    oldOS: isOSChanged ? computeMark((await host.os.state()).booted) : null,
  };
}

/** Without contents: backups exist of its files and of `currentconfig`. */
function withoutContents({ name, spec: { config: _config, ...settings } }: StoredConfig): StoredConfig {
  return { name, spec: settings };
}

async function buildCommitMove(files: FileSystem, number: number): Promise<Put> {
  const path = CURRENT_CONFIG;
  const held = (await files.lookAt(path)) === null ? 'nothing' : 'entry';
  return { kind: 'put', what: 'entry', number, path, stagedAt: getTemporaryPath({ path, number }), held };
}

export async function makeUpdateDirectory(files: FileSystem): Promise<void> {
  if ((await files.lookAt(STATE_DIRECTORY)) === null) {
    await files.makeDirectory(STATE_DIRECTORY, { ...ownOwners(), mode: 0o755 });
    await files.syncDirectory(posix.dirname(STATE_DIRECTORY));
  }
  await files.makeDirectory(UPDATE_DIRECTORY, { ...ownOwners(), mode: 0o700 });
  await files.makeDirectory(BACKUP_DIRECTORY, { ...ownOwners(), mode: 0o700 });
  await files.syncDirectory(STATE_DIRECTORY);
}

/** Expects the update directory to exist. After a failure, the caller removes what the journal lists. */
async function stage(
  files: FileSystem,
  journal: Journal,
  survey: Survey,
  programVersion: string,
): Promise<OpenJournal> {
  const opened = await createJournal(files, journal, programVersion);
  for (const { path, ...directory } of survey.directories) await files.makeDirectory(path, directory);
  await stageMoves(files, survey.moves);
  const bytes = async () => new TextEncoder().encode(encodeStoredConfig(journal.to));
  await stageEntry(files, journal.commit, { kind: 'file', mode: 0o600, ...ownOwners(), bytes });
  for (const move of [...journal.moves, journal.commit]) await backUpEntry(files, move);
  await keepOriginals(files, survey);
  await syncDirectories(files, listTouchedDirectories(journal));
  return opened;
}

/** Hard links to staged files are created after those files. */
async function stageMoves(files: FileSystem, moves: readonly SurveyedMove[]): Promise<void> {
  const puts = moves.flatMap(({ move, make }) => (move.kind === 'put' && make !== null ? [{ move, make }] : []));
  const staged = new Map(puts.map(({ move }) => [move.path, move.stagedAt]));
  await forEachLimit(puts, SYNCS_AT_ONCE, async ({ move, make }) => {
    if (make.kind !== 'hard link') await stageEntry(files, move, make);
  });
  for (const { move, make } of puts) {
    if (make.kind !== 'hard link') continue;
    await createFresh(files, move.stagedAt, (path) => files.makeHardLink(path, staged.get(make.target) ?? make.target));
  }
}

async function stageEntry(
  files: FileSystem,
  move: Put,
  make: Exclude<EntrySource, { kind: 'hard link' }>,
): Promise<void> {
  const replaces = move.held === 'entry' ? { replaces: move.path } : {};
  switch (make.kind) {
    case 'directory':
      return undefined;
    case 'link':
      return createFresh(files, move.stagedAt, (path) => files.makeLink(path, make));
    case 'original':
      return createFresh(files, move.stagedAt, (path) => copy(files, make.at, path, replaces));
    case 'file': {
      const { mode, uid, gid } = make;
      const bytes = await make.bytes();
      await createFresh(files, move.stagedAt, (path) => files.createFile(path, { mode, uid, gid, bytes, ...replaces }));
      return files.syncFile(move.stagedAt);
    }
  }
}

/** Gives the existing entry a second name before its first one is reused. */
async function backUpEntry(files: FileSystem, move: Move): Promise<void> {
  if (move.held !== 'entry') return;
  try {
    await files.makeHardLink(getBackupPath(move), move.path);
  } catch (error) {
    if (systemErrorCode(error) !== 'EXDEV') throw error;
    await createFresh(files, getSiblingBackupPath(move), (path) => files.makeHardLink(path, move.path));
  }
}

async function keepOriginals(files: FileSystem, { originals }: Survey): Promise<void> {
  const made = new Set<string>();
  if (originals.length > 0) made.add(STATE_DIRECTORY);
  for (const { path, isThere } of originals) {
    const original = isThere ? originalPath(path) : noOriginalPath(path);
    await makeParents(files, posix.dirname(original), made);
    await createFresh(files, original, (at) => (isThere ? keepOriginal(files, path, at) : createEmpty(files, at)));
  }
  await syncDirectories(files, made);
}

async function keepOriginal(files: FileSystem, path: string, at: string): Promise<void> {
  try {
    await files.makeHardLink(at, path);
  } catch (error) {
    if (systemErrorCode(error) !== 'EXDEV') throw error;
    await copy(files, path, at);
  }
}

async function createEmpty(files: FileSystem, path: string): Promise<void> {
  await files.createFile(path, { ...ownOwners(), mode: 0o600, bytes: new Uint8Array() });
}

/** Private, because originals include files that only root may read. */
async function makeParents(files: FileSystem, directory: string, made: Set<string>): Promise<void> {
  if (made.has(directory)) return;
  await makeParents(files, posix.dirname(directory), made);
  if ((await files.lookAt(directory)) === null) await files.makeDirectory(directory, { ...ownOwners(), mode: 0o700 });
  made.add(directory);
}

const MAX_ORIGINAL_BYTES = 256 * 1024 * 1024;

async function copy(
  files: FileSystem,
  from: string,
  to: string,
  replaces: { readonly replaces?: string } = {},
): Promise<void> {
  const found = await files.lookAt(from);
  if (found?.kind === 'link') return files.makeLink(to, found);
  if (found?.kind !== 'file')
    throw new Error(`expected a file or a link at ${from}, found ${found?.kind ?? 'nothing'}`);
  const { mode, uid, gid } = found;
  const bytes = await files.read(from, MAX_ORIGINAL_BYTES);
  await files.createFile(to, { mode, uid, gid, bytes, ...replaces });
  await files.syncFile(to);
}

/** Only the daemon uses this name: an existing entry is left over from an update whose journal was lost. */
async function createFresh(files: FileSystem, path: string, make: (path: string) => Promise<void>): Promise<void> {
  try {
    await make(path);
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
    await files.remove(path);
    await make(path);
  }
}

function* listTouchedDirectories({ moves, commit, madeDirectories }: Journal): Generator<string> {
  yield BACKUP_DIRECTORY;
  for (const directory of madeDirectories) {
    yield posix.dirname(directory);
    yield directory;
  }
  for (const move of [...moves, commit]) {
    if (move.kind === 'put') yield posix.dirname(move.stagedAt);
    if (move.held === 'entry') yield posix.dirname(move.path);
  }
}
