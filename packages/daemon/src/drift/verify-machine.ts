// Compares the machine with a config: reads what the pure comparisons need.
import { truncate } from '@slipway/base/text';
import { isSecretFile, maskedDiff, type Owner, UNIT_DIRECTORY } from '@slipway/fleet';
import { type AnyConfig, diffConfigs, encodeDataUrl, formatDiff } from '@slipway/ignition';
import {
  CORE,
  type DesiredEntry,
  type DesiredMachine,
  loadDesiredMachine,
  type DesiredUser,
} from '../desired-machine.ts';
import { DaemonError } from '../errors.ts';
import { systemErrorCode } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';
import type { StoredConfig } from '../stored-config.ts';
import { type Baseline, findExtra, findMissingLinks, findUnitExtras, readBaseline } from './baseline.ts';
import {
  type ComparedEntry,
  type ComparedFile,
  compareEntry,
  compareOS,
  compareUnit,
  type Difference,
  type EntryFacts,
} from './compare.ts';
import { type Drift, sanitizeName } from './drift.ts';
import { createVerifyMemory, type Enablement, type VerifyMemory } from './verify-memory.ts';

export interface VerifyOptions {
  /** Shared by successive checks, so that unchanged files are not read again. */
  readonly memory?: VerifyMemory;
}

/** Empty: the machine matches. Rejects if the config cannot be read, or a part of the host does not respond. */
export async function verifyMachine(host: Host, config: StoredConfig, options: VerifyOptions = {}): Promise<Drift[]> {
  const { memory = createVerifyMemory() } = options;
  const desired = await loadDesiredMachine(config);
  const recorded = await readBaseline(host.files);
  const baseline = recorded?.config === desired.config ? recorded : null;
  const context: VerifyContext = { host, memory, baseline, owners: new Map() };
  const differences = [
    ...(await checkAll(context, desired.entries.values())),
    ...(await verifyExtras(context, desired)),
    ...(await verifyUnits(context, desired)),
    ...(await verifyCore(context, desired.core)),
    ...compareOS(desired.os, await memory.os(() => observeOS(host))),
  ];
  return withDiffs(host, desired, differences);
}

async function checkAll(context: VerifyContext, entries: Iterable<DesiredEntry>): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const entry of entries) differences.push(...(await checkEntry(context, entry)));
  return differences;
}

async function verifyExtras(
  { host: { files }, baseline }: VerifyContext,
  desired: DesiredMachine,
): Promise<Difference[]> {
  if (baseline === null) return [];
  const tolerated = new Set(baseline.tolerated);
  const extras = (await findUnitExtras(files, desired)).filter((path) => !tolerated.has(path));
  const back: string[] = [];
  for (const path of baseline.absent) {
    if ((await findExtra(files, path)) !== null) back.push(path);
  }
  return [
    ...extras.map((path) =>
      extraDifference(path, 'expected nothing there because the config has no such file for this unit, found one'),
    ),
    ...back.map((path) =>
      extraDifference(path, 'expected nothing there because only an earlier config had this path, found something'),
    ),
  ];
}

function extraDifference(path: string, text: string): Difference {
  return { kind: 'extra', name: path, message: `${sanitizeName(path)}: ${text}`, canHeal: true };
}

async function verifyUnits(context: VerifyContext, { units }: DesiredMachine): Promise<Difference[]> {
  const { host, memory, baseline } = context;
  const differences: Difference[] = [];
  for (const unit of units) {
    const mask = unit.unmasked ? await findExtra(host.files, `${UNIT_DIRECTORY}/${unit.name}`) : null;
    const { state, missingLinks } =
      unit.enabled === null ? UNKNOWN : await memory.enablement(unit.name, (name) => readEnablement(host, name));
    const isMasked = mask?.kind === 'link' && mask.target === '/dev/null';
    const lost = missingLinks.filter((path) => baseline?.linked.includes(path) === true);
    differences.push(...compareUnit(unit, { enablement: state, missingLinks: lost, isMasked }));
  }
  return differences;
}

const UNKNOWN: Enablement = { state: '', missingLinks: [] };

async function readEnablement({ systemd, files }: Host, unit: string): Promise<Enablement> {
  const state = await systemd.enablement(unit);
  return { state, missingLinks: state === 'enabled' ? await findMissingLinks(files, unit) : [] };
}

async function verifyCore(context: VerifyContext, { sshKeys, passwordHash }: DesiredUser): Promise<Difference[]> {
  const differences: Difference[] = [];
  if (sshKeys !== null) differences.push(...(await verifyKeys(context, sshKeys)));
  if (passwordHash !== null && (await context.host.accounts.passwordHash(CORE)) !== passwordHash) {
    const message = `user ${CORE}: expected the config’s password hash in /etc/shadow, found another one`;
    differences.push({ kind: 'password', name: CORE, message, canHeal: true });
  }
  return differences;
}

async function verifyKeys(context: VerifyContext, keys: NonNullable<DesiredUser['sshKeys']>): Promise<Difference[]> {
  const home = await context.host.accounts.home(CORE);
  if (home === undefined) {
    const message = `user ${CORE}: expected ssh keys in the home directory, found no such user`;
    return [{ kind: 'ssh keys', name: CORE, message, canHeal: false }];
  }
  const checkAt = (path: string) => {
    const { mode, contents } = keys;
    const owners = { user: { id: home.uid }, group: { id: home.gid } };
    return checkEntry(context, {
      kind: 'file',
      path,
      mode,
      contents,
      keepsExisting: false,
      leaves: new Set(),
      ...owners,
    });
  };
  const [fragment, whole] = keys.paths.map((path) => `${home.path}/${path}`);
  const differences = await checkAt(fragment ?? '');
  const isMissing = differences.some(({ kind }) => kind === 'missing');
  // An Ignition built without fragments writes the keys to the file that users edit.
  if (isMissing && (await checkAt(whole ?? '')).length === 0) return [];
  return differences.map(({ message, canHeal }) => {
    return { kind: 'ssh keys', name: CORE, message: `user ${CORE}: ssh keys: ${message}`, canHeal };
  });
}

async function observeOS({ os }: Host) {
  const { booted } = await os.state();
  return { booted, fips: await os.fips() };
}

/** The state of one check. */
interface VerifyContext {
  readonly host: Host;
  readonly memory: VerifyMemory;
  /** Null: it is unknown what was there when the config was reached. */
  readonly baseline: Baseline | null;
  /** Cached by name, because each lookup reads a file of the machine. */
  readonly owners: Map<string, number>;
}

async function checkEntry(context: VerifyContext, entry: ComparedEntry): Promise<Difference[]> {
  try {
    return compareEntry(entry, await readEntryFacts(context, entry));
  } catch (error) {
    if (error instanceof DaemonError) return [unreadable(entry, error.message)];
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    return [unreadable(entry, `it cannot be read: ${code}`)];
  }
}

async function readEntryFacts(context: VerifyContext, entry: ComparedEntry): Promise<EntryFacts> {
  const { files } = context.host;
  const found = await files.lookAt(entry.path);
  const target = entry.kind === 'hard link' ? await files.lookAt(entry.target) : null;
  return {
    found,
    hasContents: entry.kind === 'file' && found?.kind === 'file' && (await hasContents(context, entry, found)),
    owners: { uid: await resolveOwnerId(context, 'user', entry), gid: await resolveOwnerId(context, 'group', entry) },
    targetInode: target?.kind === 'file' ? target.inode : null,
  };
}

async function hasContents(
  { host, memory }: VerifyContext,
  { path, contents, keepsExisting }: ComparedFile,
  found: Extract<EntryFacts['found'], { kind: 'file' }>,
): Promise<boolean> {
  if (keepsExisting ? found.size < contents.size : found.size !== contents.size) return false;
  const tail = keepsExisting ? contents.size : undefined;
  return (await memory.contents(host.files, path, found, tail)).sha256 === contents.sha256;
}

const ROOT: Owner = { id: 0 };

/** Null: not specified by the config. Numbers are resolved too, because a simulated machine may map them. */
async function resolveOwnerId(
  { host, owners }: VerifyContext,
  kind: 'user' | 'group',
  entry: ComparedEntry,
): Promise<number | null> {
  if (entry.kind === 'hard link' || ('leaves' in entry && entry.leaves.has(kind))) return null;
  const owner = entry[kind];
  const key = `${kind} ${JSON.stringify(owner)}`;
  const known = owners.get(key);
  if (known !== undefined) return known;
  const { uid, gid } = await host.accounts.owners(kind === 'user' ? owner : ROOT, kind === 'user' ? ROOT : owner);
  const number = kind === 'user' ? uid : gid;
  owners.set(key, number);
  return number;
}

/** A path that leads elsewhere, an owner that does not exist, a bad sector: all of these are drift. */
function unreadable(entry: ComparedEntry, text: string): Difference {
  return {
    kind: entry.kind === 'hard link' ? 'link' : entry.kind,
    name: entry.path,
    message: `${entry.kind} ${sanitizeName(entry.path)}: ${truncate(text, 500)}`,
    canHeal: false,
  };
}

/** More diffs cost time and help no reader. */
const MAX_DIFFS = 20;
const MAX_DIFFED_BYTES = 1024 * 1024;

async function withDiffs(
  host: Host,
  { entries }: DesiredMachine,
  differences: readonly Difference[],
): Promise<Drift[]> {
  const shown = new Set(differences.filter(({ kind }) => kind === 'file' || kind === 'extra').slice(0, MAX_DIFFS));
  const drifts: Drift[] = [];
  for (const difference of differences) {
    const diff = shown.has(difference) ? await diffFile(host, difference.name, entries.get(difference.name)) : '';
    drifts.push({ ...difference, diff });
  }
  return drifts;
}

async function diffFile({ files }: Host, path: string, entry: DesiredEntry | undefined): Promise<string> {
  // The diff would show the OS's part of the file as an addition.
  if (entry?.kind === 'file' && entry.keepsExisting) return '';
  try {
    const found = await files.lookAt(path);
    if (found?.kind !== 'file' || found.size > MAX_DIFFED_BYTES) return '';
    const expected = entry?.kind === 'file' ? { bytes: await entry.bytes(), mode: entry.mode } : null;
    return await diffContents(path, expected, { bytes: await files.read(path, MAX_DIFFED_BYTES), mode: found.mode });
  } catch {
    // It changed during the check. The next check reports it.
    return '';
  }
}

interface DiffSide {
  readonly bytes: Uint8Array;
  readonly mode: number;
}

const MAX_DIFF_LINES = 60;
const MAX_DIFF_CHARS = 4000;
const INDENT = '    ';

/** Unified, masked, bounded. `expected` null: the config has no such file. '' if nothing can be shown. */
async function diffContents(path: string, expected: DiffSide | null, found: DiffSide): Promise<string> {
  const secret = [expected, found].some((side) => side !== null && isSecretFile(path, side.mode));
  const masking = { ...maskedDiff(), isSecretFile: () => secret };
  const { items } = await diffConfigs(configWith(path, expected), configWith(path, found), masking);
  if (items === null || items.length === 0) return '';
  const lines = formatDiff(items)
    .split('\n')
    .filter((line) => line.startsWith(INDENT));
  return limitLines([
    `--- ${sanitizeName(path)} (config)`,
    `+++ ${sanitizeName(path)} (machine)`,
    ...lines.map((line) => line.slice(INDENT.length)),
  ]);
}

function configWith(path: string, side: DiffSide | null): AnyConfig {
  const files = side === null ? [] : [{ path, contents: { source: encodeDataUrl(side.bytes) } }];
  return { ignition: { version: '3.5.0' }, storage: { files } };
}

function limitLines(lines: readonly string[]): string {
  let room = MAX_DIFF_CHARS;
  const shown = lines.slice(0, MAX_DIFF_LINES).filter((line) => (room -= line.length + 1) >= 0);
  const left = lines.length - shown.length;
  return [...shown, ...(left === 0 ? [] : [`… and ${left} more lines`]), ''].join('\n');
}
