// Changes a list of kernel arguments by removing and appending, the only operations that the OS tools support.
import type { MachineConfig } from '@slipway/api';
import type { DiskPlan, DiskUser } from '../disk/disk-plan.ts';
import { isSameBytes, referenceTo } from './paths.ts';
import type {
  Change,
  ExtensionsChange,
  KernelArgumentsChange,
  PasswordChange,
  SettingChange,
  SshKeysChange,
} from './update-plan.ts';

export function kernelArgumentsChange(
  current: readonly string[],
  desired: readonly string[],
): KernelArgumentsChange | null {
  const [before, after] = [current.flatMap(splitArguments), desired.flatMap(splitArguments)];
  if (isSameList(before, after)) return null;
  const stays = valuesThatStay(before, after);
  const kept = before.filter((argument) => stays.has(argument)).length;
  const removed = before.filter((argument) => !stays.has(argument));
  return { kind: 'kernel arguments', before, after, removed, added: after.slice(kept) };
}

/** One entry of a MachineConfig may contain several; as in the kernel, spaces inside double quotes belong to an argument. */
export function splitArguments(entry: string): string[] {
  return entry.match(/(?:"[^"]*"?|[^\s"])+/g) ?? [];
}

/**
 * Arguments that can stay. New ones are appended, so those that stay must be a prefix of the new list. A repeated
 * argument stays completely or not at all, because a tool that removes it by value removes the first one.
 */
function valuesThatStay(before: readonly string[], after: readonly string[]): ReadonlySet<string> {
  const [had, has] = [countValues(before), countValues(after)];
  const stays = new Set(before.filter((argument) => had.get(argument) === has.get(argument)));
  for (;;) {
    const kept = before.filter((argument) => stays.has(argument));
    const moved = kept.find((argument, index) => argument !== after[index]);
    if (moved === undefined) return stays;
    stays.delete(moved);
  }
}

function countValues(values: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}

// Changes of the OS: its image, kernel and extensions.

export type Spec = NonNullable<MachineConfig['spec']>;

/** In the order in which a host applies them: the kernel and packages come with the new image. */
export function settingChanges(current: Spec, desired: Spec): Change[] {
  const changes = [
    settingChange('osImageURL', current.osImageURL, desired.osImageURL),
    settingChange(
      'baseOSExtensionsContainerImage',
      current.baseOSExtensionsContainerImage,
      desired.baseOSExtensionsContainerImage,
    ),
    kernelArgumentsChange(current.kernelArguments ?? [], desired.kernelArguments ?? []),
    settingChange('kernelType', readKernelType(current), readKernelType(desired)),
    extensionsChange(current.extensions ?? [], desired.extensions ?? []),
    settingChange('fips', String(current.fips ?? false), String(desired.fips ?? false)),
  ];
  return changes.filter((change) => change !== null);
}

/** Only a non-default kernel or extensions need packages from the extensions image. */
export function usesExtensionsImage(spec: Spec): boolean {
  return readKernelType(spec) !== 'default' || (spec.extensions ?? []).length > 0;
}

function readKernelType({ kernelType }: Spec): string {
  return kernelType === undefined || kernelType === '' ? 'default' : kernelType;
}

function settingChange(setting: SettingChange['setting'], before = '', after = ''): SettingChange | null {
  return before === after ? null : { kind: 'setting', setting, before, after };
}

function extensionsChange(current: readonly string[], desired: readonly string[]): ExtensionsChange | null {
  const removed = [...new Set(current).difference(new Set(desired))].sort();
  const added = [...new Set(desired).difference(new Set(current))].sort();
  return removed.length + added.length === 0 ? null : { kind: 'extensions', removed, added };
}

// User core: on a running machine, only its ssh keys and password can change.

export const CORE = 'core';

export function coreUserChanges(current: DiskPlan, desired: DiskPlan): (SshKeysChange | PasswordChange)[] {
  const [before, after] = [coreIn(current), coreIn(desired)];
  const changes: (SshKeysChange | PasswordChange)[] = [];
  const [old, now] = [keysOf(before), keysOf(after)];
  if (!isSame(old, now)) changes.push(sshKeysChange(old, now));
  if (before?.passwordHash !== after?.passwordHash) {
    changes.push({ kind: 'password', user: CORE, before: describePassword(before), after: describePassword(after) });
  }
  return changes;
}

function coreIn({ users }: DiskPlan): DiskUser | undefined {
  return users.find((user) => user.name === CORE);
}

function keysOf(user: DiskUser | undefined): Uint8Array | null {
  return user?.sshKeys?.bytes ?? null;
}

function describePassword(user: DiskUser | undefined): 'set' | 'none' {
  return user?.passwordHash === undefined ? 'none' : 'set';
}

function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : isSameBytes(a, b);
}

function sshKeysChange(before: Uint8Array | null, after: Uint8Array | null): SshKeysChange {
  const [old, now] = [keysIn(before), keysIn(after)];
  return {
    kind: 'ssh keys',
    user: CORE,
    added: now.filter((key) => !old.includes(key)),
    removed: old.filter((key) => !now.includes(key)),
    before: before === null ? null : referenceTo(before),
    after: after === null ? null : referenceTo(after),
  };
}

function keysIn(bytes: Uint8Array | null): string[] {
  if (bytes === null) return [];
  return new TextDecoder()
    .decode(bytes)
    .split('\n')
    .filter((line) => line !== '');
}
