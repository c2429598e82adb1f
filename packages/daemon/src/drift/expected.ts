// What a config makes of a machine, without the contents: those are told apart by size and SHA-256.
import { hash } from 'node:crypto';
import {
  diskOf,
  type DiskEntry,
  type DiskPlan,
  type Owner,
  readMachineConfig,
  type RenderedIgnition,
  splitArguments,
  type SshKeys,
  UNIT_DIRECTORY,
} from '@slipway/fleet';
import { readDisk } from '../disk-reading.ts';
import { DaemonError } from '../errors.ts';
import type { StoredConfig } from '../stored-config.ts';

export interface Contents {
  readonly sha256: string;
  readonly size: number;
}

/** Null: the config leaves it to what is there already. */
interface Owned {
  readonly user: Owner | null;
  readonly group: Owner | null;
}

export type ExpectedEntry =
  | (Owned & {
      readonly kind: 'file';
      readonly path: string;
      readonly mode: number | null;
      readonly contents: Contents;
      /** The contents stand at the end, after those of the OS. */
      readonly keepsExisting: boolean;
    })
  | (Owned & { readonly kind: 'directory'; readonly path: string; readonly mode: number | null })
  | (Owned & { readonly kind: 'link'; readonly path: string; readonly target: string })
  | { readonly kind: 'hard link'; readonly path: string; readonly target: string };

export interface ExpectedUnit {
  readonly name: string;
  /** Null: as the OS has it. */
  readonly enabled: boolean | null;
  readonly unmasked: boolean;
}

export interface ExpectedOS {
  /** '' where the config names none. */
  readonly image: string;
  readonly kernelArguments: readonly string[];
  readonly noKernelArguments: readonly string[];
  readonly kernelType: string;
  readonly extensions: readonly string[];
  readonly fips: boolean;
}

export interface Expected {
  readonly config: string;
  readonly entries: readonly ExpectedEntry[];
  readonly units: readonly ExpectedUnit[];
  /** Of the user core; null: the config says nothing of them. */
  readonly sshKeys: (Omit<SshKeys, 'bytes'> & { readonly contents: Contents }) | null;
  readonly passwordHash: string | null;
  readonly os: ExpectedOS;
}

export const CORE = 'core';

/** Rejects where the config cannot be read. */
export async function expectedOf(config: StoredConfig): Promise<Expected> {
  const { ignition, ...input } = read(config);
  const disk = await readDisk(ignition);
  const core = disk.users.find(({ name }) => name === CORE);
  return {
    config: config.name,
    entries: await entriesOf(disk.entries(), ignition),
    units: unitsOf(disk, ignition),
    sshKeys: core?.sshKeys === undefined ? null : keysOf(core.sshKeys),
    passwordHash: core?.passwordHash ?? null,
    os: {
      image: input.osImageURL,
      kernelArguments: [...disk.kernelArguments.shouldExist, ...input.kernelArguments].flatMap(splitArguments),
      noKernelArguments: disk.kernelArguments.shouldNotExist.flatMap(splitArguments),
      kernelType: input.kernelType,
      extensions: input.extensions,
      fips: input.fips,
    },
  };
}

/** With all contents: for who writes them, or shows how they differ. */
export function diskPlanOf(config: StoredConfig): Promise<DiskPlan> {
  return diskOf(read(config).ignition);
}

function read({ name, spec }: StoredConfig) {
  const result = readMachineConfig({ metadata: { name }, spec });
  if (result.ok) return { ...result.input, ignition: result.input.config };
  throw new DaemonError(
    'SLW_DAEMON_CONFIG',
    `${result.problems.map(({ message }) => message).join('; ')}. The machine cannot be compared with it, and stays as it is`,
  );
}

export function contentsOf(bytes: Uint8Array): Contents {
  return { sha256: hash('sha256', bytes), size: bytes.length };
}

type Named = Pick<
  NonNullable<NonNullable<RenderedIgnition['storage']>['directories']>[number],
  'path' | 'mode' | 'user' | 'group'
>;

async function entriesOf(entries: AsyncIterable<DiskEntry>, { storage }: RenderedIgnition): Promise<ExpectedEntry[]> {
  const named = new Map([...(storage?.files ?? []), ...(storage?.directories ?? [])].map((each) => [each.path, each]));
  const expected: ExpectedEntry[] = [];
  for await (const entry of entries) expected.push(entryOf(entry, named.get(entry.path) ?? entry));
  return expected.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** What may keep what the machine has keeps also mode and owner, unless the config names them. */
function entryOf(entry: DiskEntry, named: Partial<Named> | DiskEntry): ExpectedEntry {
  switch (entry.kind) {
    case 'file': {
      const { kind, path, keepsExisting, bytes } = entry;
      return { kind, path, keepsExisting, contents: contentsOf(bytes), ...rightsOf(entry, named) };
    }
    case 'directory':
      return { kind: entry.kind, path: entry.path, ...rightsOf(entry, named) };
    case 'link': {
      const { kind, path, target, user, group } = entry;
      return { kind, path, target, user, group };
    }
    case 'hard link':
      return { kind: entry.kind, path: entry.path, target: entry.target };
  }
}

function rightsOf(
  { keepsExisting, mode, user, group }: Extract<DiskEntry, { keepsExisting: boolean }>,
  named: object,
): Owned & { readonly mode: number | null } {
  const says = (field: 'mode' | 'user' | 'group') => !keepsExisting || Object.hasOwn(named, field);
  return {
    mode: says('mode') ? mode : null,
    user: says('user') ? user : null,
    group: says('group') ? group : null,
  };
}

/** Every unit that the config names, for whatever reason. */
function unitsOf({ unmasked }: Pick<DiskPlan, 'unmasked'>, { systemd }: RenderedIgnition): ExpectedUnit[] {
  const bare = new Set(unmasked.map((path) => path.slice(UNIT_DIRECTORY.length + 1)));
  return (systemd?.units ?? []).map(({ name, enabled, mask }) => ({
    name,
    // A masked unit is not enabled, whatever else is said of it.
    enabled: mask === true ? null : (enabled ?? null),
    unmasked: bare.has(name),
  }));
}

function keysOf({ paths, mode, bytes }: SshKeys): NonNullable<Expected['sshKeys']> {
  return { paths, mode, contents: contentsOf(bytes) };
}
