// The user core: the only one of whom something can change on a running machine, namely keys and password.
import type { DiskPlan, DiskUser } from '../disk/disk-plan.ts';
import { isSameBytes, referenceTo } from './contents-reference.ts';
import type { PasswordChange, SshKeysChange } from './update-plan.ts';

export const CORE = 'core';

export async function coreUserChanges(
  current: DiskPlan,
  desired: DiskPlan,
): Promise<(SshKeysChange | PasswordChange)[]> {
  const [before, after] = [coreIn(current), coreIn(desired)];
  const changes: (SshKeysChange | PasswordChange)[] = [];
  const [old, now] = [keysOf(before), keysOf(after)];
  if (!isSame(old, now)) changes.push(await sshKeysChange(old, now));
  if (before?.passwordHash !== after?.passwordHash) {
    changes.push({ kind: 'password', user: CORE, before: passwordOf(before), after: passwordOf(after) });
  }
  return changes;
}

function coreIn({ users }: DiskPlan): DiskUser | undefined {
  return users.find((user) => user.name === CORE);
}

function keysOf(user: DiskUser | undefined): Uint8Array | null {
  return user?.sshKeys?.bytes ?? null;
}

function passwordOf(user: DiskUser | undefined): 'set' | 'none' {
  return user?.passwordHash === undefined ? 'none' : 'set';
}

function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : isSameBytes(a, b);
}

async function sshKeysChange(before: Uint8Array | null, after: Uint8Array | null): Promise<SshKeysChange> {
  const [old, now] = [keysIn(before), keysIn(after)];
  return {
    kind: 'ssh keys',
    user: CORE,
    added: now.filter((key) => !old.includes(key)),
    removed: old.filter((key) => !now.includes(key)),
    before: before === null ? null : await referenceTo(before),
    after: after === null ? null : await referenceTo(after),
  };
}

function keysIn(bytes: Uint8Array | null): string[] {
  if (bytes === null) return [];
  return new TextDecoder()
    .decode(bytes)
    .split('\n')
    .filter((line) => line !== '');
}
