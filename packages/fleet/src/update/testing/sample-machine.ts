// An in-memory machine for tests: it applies changes like a real one, and refuses those that a real one could not make.
import type { MachineConfig } from '@slipway/api';
import { buildDiskPlan } from '../../disk/build-disk-plan.ts';
import type { DiskEntry, DiskPlan } from '../../disk/disk-plan.ts';
import { readInput, machineConfig } from '../../render/testing/sample.ts';
import { referenceTo } from '../paths.ts';
import type {
  Change,
  ContentsReference,
  ExtensionsChange,
  PathChange,
  PathState,
  SshKeysChange,
  UnitChange,
} from '../update-plan.ts';

type Spec = NonNullable<MachineConfig['spec']>;

/** A machine under a config. Changes take contents and hashes from it. */
export interface SampleMachine {
  readonly entries: Map<string, DiskEntry>;
  /** `enabled` or `disabled`; other units have the OS default. */
  readonly enabled: Map<string, string>;
  readonly unmasked: Set<string>;
  sshKeys: string | null;
  passwordHash: string | null;
  kernelArguments: string[];
  readonly extensions: Set<string>;
  readonly settings: Map<string, string>;
}

export async function machineWith(spec: Spec): Promise<SampleMachine> {
  const { config, kernelArguments, extensions, ...settings } = await readInput(machineConfig('rendered', spec));
  const disk = await buildDiskPlan(config);
  const core = disk.users.find(({ name }) => name === 'core');
  return {
    entries: new Map(disk.entries.map((entry) => [entry.path, entry])),
    enabled: enabledOn(disk),
    unmasked: new Set(disk.unmasked.map((path) => path.slice(path.lastIndexOf('/') + 1))),
    sshKeys: core?.sshKeys === undefined ? null : new TextDecoder().decode(core.sshKeys.bytes),
    passwordHash: core?.passwordHash ?? null,
    kernelArguments: kernelArguments.flatMap((each) => each.split(' ')),
    extensions: new Set(extensions),
    settings: new Map([
      ['osImageURL', settings.osImageURL],
      ['baseOSExtensionsContainerImage', settings.baseOSExtensionsContainerImage],
      ['kernelType', settings.kernelType],
      ['fips', String(settings.fips)],
    ]),
  };
}

function enabledOn({ presets }: DiskPlan): Map<string, string> {
  const enabled = new Map<string, string>();
  for (const { line } of presets) {
    const [action = '', unit = '', ...instances] = line.split(' ');
    for (const name of instances.length === 0 ? [unit] : instances.map((each) => unit.split('@').join(`@${each}`))) {
      enabled.set(name, `${action}d`);
    }
  }
  return enabled;
}

/** Applies one change. `source` is the machine under the config that the change leads to. */
export async function apply(machine: SampleMachine, change: Change, source: SampleMachine): Promise<void> {
  switch (change.kind) {
    case 'path':
      return applyPath(machine, change, source);
    case 'unit':
      return applyUnit(machine, change);
    case 'ssh keys':
      return applyKeys(machine, change, source);
    case 'password':
      machine.passwordHash = change.after === 'none' ? null : source.passwordHash;
      return;
    case 'kernel arguments':
      machine.kernelArguments = argumentsAfter(machine.kernelArguments, change);
      return;
    case 'extensions':
      return applyExtensions(machine, change);
    case 'setting':
      machine.settings.set(change.setting, change.after);
  }
}

function applyExtensions({ extensions }: SampleMachine, { removed, added }: ExtensionsChange): void {
  for (const name of removed) extensions.delete(name);
  for (const name of added) extensions.add(name);
}

function applyUnit(machine: SampleMachine, { unit, after }: UnitChange): void {
  if (after.enabled === 'preset') machine.enabled.delete(unit);
  else machine.enabled.set(unit, after.enabled);
  machine.unmasked[after.unmasked ? 'add' : 'delete'](unit);
}

async function applyKeys(machine: SampleMachine, { after }: SshKeysChange, source: SampleMachine): Promise<void> {
  machine.sshKeys = after === null ? null : source.sshKeys;
  if (after !== null) await check(after, new TextEncoder().encode(source.sshKeys ?? ''));
}

async function applyPath(machine: SampleMachine, { path, after }: PathChange, source: SampleMachine): Promise<void> {
  if (after === null) return removePath(machine, path);
  if (after.kind !== 'directory') refuseParent(machine, path);
  const above = [...machine.entries.values()].find(
    (each) => path.startsWith(`${each.path}/`) && each.kind !== 'directory',
  );
  if (above !== undefined) throw new Error(`${path} cannot be below ${above.path}, which is a ${above.kind}`);
  const entry = source.entries.get(path);
  if (entry === undefined) throw new Error(`${path} is not in the config that it should come from`);
  if (after.kind === 'file' && entry.kind === 'file') await check(after.contents, entry.bytes);
  machine.entries.set(path, { ...entry, ...withoutContents(after) });
}

function removePath(machine: SampleMachine, path: string): void {
  const found = machine.entries.get(path);
  // Undoes a step that was not executed: there is nothing to remove.
  if (found === undefined) return;
  // A directory that is no longer in the config stays while it is not empty.
  if (found.kind !== 'directory') refuseParent(machine, path);
  machine.entries.delete(path);
}

function refuseParent({ entries }: SampleMachine, path: string): void {
  if (entries.keys().some((other) => other.startsWith(`${path}/`))) {
    throw new Error(`${path} is still a directory with something in it`);
  }
}

/** Everything but the contents is taken from the change, so that a wrong change is noticed. */
function withoutContents(state: PathState): object {
  return Object.fromEntries(Object.entries(state).filter(([name]) => name !== 'contents'));
}

async function check(reference: ContentsReference, bytes: Uint8Array): Promise<void> {
  const found = referenceTo(bytes);
  if (found.sha256 !== reference.sha256 || found.size !== reference.size) throw new Error('the contents are others');
}

/** Like a host: removes the first argument with each value, then appends. */
function argumentsAfter(found: readonly string[], change: Extract<Change, { kind: 'kernel arguments' }>): string[] {
  if (found.join(' ') === change.after.join(' ')) return [...found];
  if (found.join(' ') !== change.before.join(' ')) throw new Error(`unexpected arguments ${found.join(' ')}`);
  const left = [...found];
  for (const argument of change.removed) {
    const place = left.indexOf(argument);
    if (place < 0) throw new Error(`${argument} is not there to be removed`);
    left.splice(place, 1);
  }
  return [...left, ...change.added];
}

/** What is visible on the machine: not the source of a path in the config, nor what may be overwritten. */
export function seen(machine: SampleMachine): object {
  const entries = [...machine.entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1)).map(seenEntry);
  const sorted = (items: Iterable<unknown>) => [...items].map((item) => JSON.stringify(item)).sort();
  return {
    ...machine,
    entries,
    enabled: sorted(machine.enabled),
    unmasked: sorted(machine.unmasked),
    extensions: sorted(machine.extensions),
    settings: sorted(machine.settings),
  };
}

function seenEntry(entry: DiskEntry): object {
  const hidden = entry.kind === 'directory' ? ['of', 'keepsExisting'] : ['of'];
  return Object.fromEntries(Object.entries(entry).filter(([name]) => !hidden.includes(name)));
}
