// What a config makes of a machine: the one form of it that an update, a check for drift and healing work with.
import { hash } from 'node:crypto';
import {
  type DiskDirectory,
  type DiskEntry,
  type DiskFile,
  type DiskHardLink,
  type DiskLink,
  buildDiskPlan,
  readMachineConfig,
  type RenderedIgnition,
  splitArguments,
  type SshKeys,
  UNIT_DIRECTORY,
} from '@slipway/fleet';
import { DaemonError } from './errors.ts';
import type { StoredConfig } from './stored-config.ts';

export interface DesiredMachine {
  /** The name of the config. */
  readonly config: string;
  /** In the order of their paths. */
  readonly entries: ReadonlyMap<string, DesiredEntry>;
  /** Every unit that the config names, for whatever reason. */
  readonly units: readonly DesiredUnit[];
  readonly core: DesiredUser;
  readonly os: DesiredOS;
}

export type DesiredEntry = DesiredFile | DesiredDirectory | DiskLink | DiskHardLink;

export interface DesiredFile extends Omit<DiskFile, 'bytes'>, Rights {
  /** Told apart by these, for they are small. */
  readonly contents: Contents;
  /** Read from the config each time, and not kept. */
  readonly bytes: () => Promise<Uint8Array>;
}

export type DesiredDirectory = DiskDirectory & Rights;

interface Rights {
  /** What of it the config leaves to what is there already. */
  readonly leaves: ReadonlySet<Right>;
}

export type Right = 'mode' | 'user' | 'group';

export interface Contents {
  readonly sha256: string;
  readonly size: number;
}

export interface DesiredUnit {
  readonly name: string;
  /** Null: as the OS has it. */
  readonly enabled: boolean | null;
  readonly unmasked: boolean;
}

/** Of the user core; null: the config says nothing of it. */
export interface DesiredUser {
  readonly sshKeys: (SshKeys & { readonly contents: Contents }) | null;
  readonly passwordHash: string | null;
}

export interface DesiredOS {
  /** '' where the config names none. */
  readonly image: string;
  readonly kernelArguments: readonly string[];
  readonly noKernelArguments: readonly string[];
  readonly kernelType: string;
  readonly extensions: readonly string[];
  readonly fips: boolean;
}

export const CORE = 'core';

export function hashContents(bytes: Uint8Array): Contents {
  return { sha256: hash('sha256', bytes), size: bytes.length };
}

/** As long as the config itself is kept, which for the current one is always: a check must not read it again each time. */
const known = new WeakMap<StoredConfig, Promise<DesiredMachine>>();

/** Rejects with a DaemonError or a FleetError where the config, or any contents in it, cannot be read. */
export function loadDesiredMachine(config: StoredConfig): Promise<DesiredMachine> {
  const before = known.get(config);
  if (before !== undefined) return before;
  const reading = readDesiredMachine(config);
  known.set(config, reading);
  reading.catch(() => known.delete(config));
  return reading;
}

async function readDesiredMachine({ name, spec }: StoredConfig): Promise<DesiredMachine> {
  const read = readMachineConfig({ metadata: { name }, spec });
  if (!read.ok) {
    const problems = read.problems.map(({ message }) => message).join('; ');
    throw new DaemonError(
      'SLW_DAEMON_CONFIG',
      `${problems}. The machine cannot be compared with it, and stays as it is`,
    );
  }
  const { config: ignition, ...input } = read.input;
  const { files: _files, ...storage } = ignition.storage ?? {};
  const { entries, users, unmasked, kernelArguments } = await buildDiskPlan({ ...ignition, storage });
  const directories = new Map(storage.directories?.map((directory) => [directory.path, directory]));
  const core = users.find((user) => user.name === CORE);
  return {
    config: name,
    entries: indexByPath([
      ...entries.map((entry) => toDesiredEntry(entry, directories)),
      ...(await readDesiredFiles(ignition)),
    ]),
    units: buildUnits(unmasked, ignition),
    core: {
      sshKeys: core?.sshKeys === undefined ? null : { ...core.sshKeys, contents: hashContents(core.sshKeys.bytes) },
      passwordHash: core?.passwordHash ?? null,
    },
    os: {
      image: input.osImageURL,
      kernelArguments: [...kernelArguments.shouldExist, ...input.kernelArguments].flatMap(splitArguments),
      noKernelArguments: kernelArguments.shouldNotExist.flatMap(splitArguments),
      kernelType: input.kernelType,
      extensions: input.extensions,
      fips: input.fips,
    },
  };
}

function indexByPath(entries: DesiredEntry[]): Map<string, DesiredEntry> {
  entries.sort((a, b) => (a.path < b.path ? -1 : 1));
  return new Map(entries.map((entry) => [entry.path, entry]));
}

type File = NonNullable<NonNullable<RenderedIgnition['storage']>['files']>[number];

/**
 * One after the other: all contents of a large config at once would be most of the memory that a daemon ever needs. One that
 * is let go of before the next is read costs nothing.
 */
async function readDesiredFiles({ ignition, storage }: RenderedIgnition): Promise<DesiredFile[]> {
  const desired: DesiredFile[] = [];
  for (const file of storage?.files ?? []) {
    const { bytes, ...rest } = await readFile(ignition, file);
    const readAgain = async (): Promise<Uint8Array> => (await readFile(ignition, file)).bytes;
    desired.push({ ...rest, contents: hashContents(bytes), bytes: readAgain, leaves: listKeptRights(rest, file) });
  }
  return desired;
}

async function readFile(ignition: RenderedIgnition['ignition'], file: File): Promise<DiskFile> {
  const { entries } = await buildDiskPlan({ ignition, storage: { files: [file] } });
  const [entry] = entries;
  if (entry?.kind !== 'file') throw new TypeError(`the file ${file.path} became none`);
  return entry;
}

function toDesiredEntry(entry: DiskEntry, directories: ReadonlyMap<string, object>): DesiredEntry {
  switch (entry.kind) {
    case 'file': {
      // Of a unit: text in the config already, and short, so its bytes stay.
      const { bytes } = entry;
      return { ...entry, contents: hashContents(bytes), bytes: async () => bytes, leaves: NOTHING };
    }
    case 'directory':
      return { ...entry, leaves: listKeptRights(entry, directories.get(entry.path) ?? {}) };
    case 'link':
    case 'hard link':
      return entry;
  }
}

const RIGHTS = ['mode', 'user', 'group'] as const;
const NOTHING: ReadonlySet<Right> = new Set();

/** What may keep what the machine has keeps also mode and owner, unless the config names them. */
function listKeptRights({ keepsExisting }: { readonly keepsExisting: boolean }, named: object): ReadonlySet<Right> {
  return keepsExisting ? new Set(RIGHTS.filter((right) => !Object.hasOwn(named, right))) : NOTHING;
}

function buildUnits(unmasked: readonly string[], { systemd }: RenderedIgnition): DesiredUnit[] {
  const bare = new Set(unmasked.map((path) => path.slice(UNIT_DIRECTORY.length + 1)));
  return (systemd?.units ?? []).map(({ name, enabled, mask }) => ({
    name,
    // A masked unit is not enabled, whatever else is said of it.
    enabled: mask === true ? null : (enabled ?? null),
    unmasked: bare.has(name),
  }));
}
