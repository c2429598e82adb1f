// The machine that a config describes, in the form that updates, drift detection and healing share.
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
  readonly config: string;
  /** Sorted by path. */
  readonly entries: ReadonlyMap<string, DesiredEntry>;
  /** Every unit that the config names, for any reason. */
  readonly units: readonly DesiredUnit[];
  readonly core: DesiredUser;
  readonly os: DesiredOS;
}

export type DesiredEntry = DesiredFile | DesiredDirectory | DiskLink | DiskHardLink;

export interface DesiredFile extends Omit<DiskFile, 'bytes'>, Rights {
  /** Entries are compared by these, because they are small. */
  readonly contents: Contents;
  /** Decoded from the config on each call and not cached. */
  readonly bytes: () => Promise<Uint8Array>;
}

export type DesiredDirectory = DiskDirectory & Rights;

interface Rights {
  /** The attributes that the config does not specify: existing values stay. */
  readonly leaves: ReadonlySet<Right>;
}

export type Right = 'mode' | 'user' | 'group';

export interface Contents {
  readonly sha256: string;
  readonly size: number;
}

export interface DesiredUnit {
  readonly name: string;
  /** Null: the OS decides. */
  readonly enabled: boolean | null;
  readonly unmasked: boolean;
}

/** The user core. Null: the config does not mention it. */
export interface DesiredUser {
  readonly sshKeys: (SshKeys & { readonly contents: Contents }) | null;
  readonly passwordHash: string | null;
}

export interface DesiredOS {
  /** '' if the config names none. */
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

/**
 * Cached as long as the config is in memory, which the current one always is, so that checks do not parse it each time.
 */
const known = new WeakMap<StoredConfig, Promise<DesiredMachine>>();

/** Rejects with a DaemonError or a FleetError if the config, or the contents of a file in it, cannot be read. */
export function loadDesiredMachine(config: StoredConfig): Promise<DesiredMachine> {
  const before = known.get(config);
  if (before !== undefined) return before;
  const reading = readDesiredMachine(config);
  known.set(config, reading);
  reading.catch(() => known.delete(config));
  return reading;
}

async function readDesiredMachine({ name, spec }: StoredConfig): Promise<DesiredMachine> {
  const read = await readMachineConfig({ metadata: { name }, spec }, spec.config, 'rendered');
  if (!read.ok) {
    const problems = read.problems.map(({ message }) => message).join('; ');
    throw new DaemonError(
      'SLW_DAEMON_CONFIG',
      `${problems}. The machine cannot be compared with this config and is left unchanged`,
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
 * Reads files one by one: decoding all contents of a large config together would set the daemon's peak memory. Each is
 * released before the next is read.
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
  if (entry?.kind !== 'file') throw new TypeError(`expected a file entry for ${file.path}`);
  return entry;
}

function toDesiredEntry(entry: DiskEntry, directories: ReadonlyMap<string, object>): DesiredEntry {
  switch (entry.kind) {
    case 'file': {
      // Unit files are short and already text in the config, so their bytes stay in memory.
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

/** An entry that may keep existing contents also keeps mode and owner, unless the config names them. */
function listKeptRights({ keepsExisting }: { readonly keepsExisting: boolean }, named: object): ReadonlySet<Right> {
  return keepsExisting ? new Set(RIGHTS.filter((right) => !Object.hasOwn(named, right))) : NOTHING;
}

function buildUnits(unmasked: readonly string[], { systemd }: RenderedIgnition): DesiredUnit[] {
  const bare = new Set(unmasked.map((path) => path.slice(UNIT_DIRECTORY.length + 1)));
  return (systemd?.units ?? []).map(({ name, enabled, mask }) => ({
    name,
    // systemd cannot enable a masked unit, so `enabled` does not apply.
    enabled: mask === true ? null : (enabled ?? null),
    unmasked: bare.has(name),
  }));
}
