import { sha256 } from '@slipway/base/hash';
import { type DiskEntry, type DiskPlan, type Owner, UNIT_DIRECTORY } from '../disk/disk-plan.ts';
import { isSecretFile } from '../masking.ts';
import type { ContentsReference, PathChange, PathState, UnitChange, UnitState } from './update-plan.ts';

/** Contents may be secret and large: a plan only identifies them. */
export function referenceTo(bytes: Uint8Array): ContentsReference {
  return { sha256: sha256(bytes), size: bytes.length };
}

export function isSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

// The changes by path between two disk plans.

/**
 * First removals, from the deepest path up, then additions and changes, from the top down: a file may replace a
 * directory, and the other way round.
 */
export function pathChanges(current: DiskPlan, desired: DiskPlan): PathChange[] {
  const [old, now] = [byPath(current), byPath(desired)];
  const gone: PathChange[] = [];
  const written: PathChange[] = [];
  for (const entry of current.entries) {
    if (!now.has(entry.path)) gone.push(pathChange(entry, null));
  }
  for (const entry of desired.entries) {
    const before = old.get(entry.path) ?? null;
    if (before === null || differences(before, entry).length > 0) written.push(pathChange(before, entry));
  }
  return [...gone.toReversed(), ...written];
}

function byPath({ entries }: DiskPlan): ReadonlyMap<string, DiskEntry> {
  return new Map(entries.map((entry) => [entry.path, entry]));
}

function pathChange(before: DiskEntry | null, after: DiskEntry): PathChange;
function pathChange(before: DiskEntry, after: null): PathChange;
function pathChange(before: DiskEntry | null, after: DiskEntry | null): PathChange {
  return {
    kind: 'path',
    path: before?.path ?? after?.path ?? '',
    ...whatHappens(before, after),
    before: toPathState(before),
    after: toPathState(after),
    secret: isSecret(before) || isSecret(after),
  };
}

function whatHappens(before: DiskEntry | null, after: DiskEntry | null): Pick<PathChange, 'change' | 'differs'> {
  if (before === null) return { change: 'added', differs: [] };
  if (after === null) return { change: 'removed', differs: [] };
  return { change: 'changed', differs: differences(before, after) };
}

/** Differences that matter on a machine. Whether a directory may be overwritten does not: it already exists. */
function differences(before: DiskEntry, after: DiskEntry): PathChange['differs'] {
  if (before.kind !== after.kind) return ['kind'];
  const differs: PathChange['differs'][number][] = [];
  if (!hasSameContents(before, after)) differs.push('contents');
  if (modeOf(before) !== modeOf(after)) differs.push('mode');
  if (!hasSameOwners(before, after)) differs.push('owner');
  if (targetOf(before) !== targetOf(after)) differs.push('target');
  return differs;
}

const modeOf = (entry: DiskEntry): number | null => ('mode' in entry ? entry.mode : null);
const targetOf = (entry: DiskEntry): string | null => ('target' in entry ? entry.target : null);

function hasSameContents(before: DiskEntry, after: DiskEntry): boolean {
  if (before.kind !== 'file' || after.kind !== 'file') return true;
  return before.keepsExisting === after.keepsExisting && isSameBytes(before.bytes, after.bytes);
}

/** A hard link has the owners of its target. */
function hasSameOwners(a: DiskEntry, b: DiskEntry): boolean {
  if (a.kind === 'hard link' || b.kind === 'hard link') return true;
  return isSameOwner(a.user, b.user) && isSameOwner(a.group, b.group);
}

function isSameOwner(a: Owner, b: Owner): boolean {
  if ('id' in a) return 'id' in b && a.id === b.id;
  return 'name' in b && a.name === b.name;
}

function toPathState(entry: DiskEntry | null): PathState | null {
  switch (entry?.kind) {
    case undefined:
      return null;
    case 'file': {
      const { kind, of, mode, user, group, keepsExisting } = entry;
      return { kind, of, mode, user, group, contents: referenceTo(entry.bytes), keepsExisting };
    }
    case 'directory': {
      const { kind, mode, user, group } = entry;
      return { kind, of: 'directory', mode, user, group };
    }
    case 'link': {
      const { kind, of, target, user, group } = entry;
      return { kind, of, target, user, group };
    }
    case 'hard link':
      return { kind: 'hard link', of: 'link', target: entry.target };
  }
}

function isSecret(entry: DiskEntry | null): boolean {
  return entry?.kind === 'file' && isSecretFile(entry.path, entry.mode);
}

// Units with any change: their files, whether they are enabled, or whether they may be masked.

export function unitChanges(current: DiskPlan, desired: DiskPlan, paths: readonly PathChange[]): UnitChange[] {
  const [old, now] = [collectUnitStates(current), collectUnitStates(desired)];
  const rewritten = new Set(paths.flatMap(unitsIn));
  const units = new Set([...old.keys(), ...now.keys(), ...rewritten]);
  return [...units].sort().flatMap((unit): UnitChange[] => {
    const [before, after] = [old.get(unit) ?? UNSAID, now.get(unit) ?? UNSAID];
    const isSame = before.enabled === after.enabled && before.unmasked === after.unmasked;
    if (isSame && !rewritten.has(unit)) return [];
    return [{ kind: 'unit', unit, rewritten: rewritten.has(unit), before, after }];
  });
}

const UNSAID: UnitState = { enabled: 'preset', unmasked: false };

/** The unit that a path belongs to; null for a plain file. */
export function findUnitName(path: string, state: PathState): string | null {
  const [name = ''] = path.slice(UNIT_DIRECTORY.length + 1).split('/');
  if (state.of === 'drop-in') return name.slice(0, -'.d'.length);
  return state.of === 'unit' || state.of === 'mask' ? name : null;
}

function unitsIn({ path, before, after }: PathChange): string[] {
  return [before, after].flatMap((state) => (state === null ? [] : (findUnitName(path, state) ?? [])));
}

function collectUnitStates(disk: DiskPlan): ReadonlyMap<string, UnitState> {
  const states = new Map<string, UnitState>();
  for (const { action, unit, instances } of disk.presets) {
    const names =
      instances.length === 0 ? [unit] : instances.map((instance) => unit.replace('@', () => `@${instance}`));
    for (const name of names) states.set(name, { enabled: `${action}d`, unmasked: false });
  }
  for (const path of disk.unmasked) {
    const unit = path.slice(UNIT_DIRECTORY.length + 1);
    states.set(unit, { enabled: states.get(unit)?.enabled ?? 'preset', unmasked: true });
  }
  return states;
}
