// Units of which anything changes: what they are made of, whether they are enabled, whether others may mask them.
import { type DiskPlan, UNIT_DIRECTORY } from '../disk/disk-plan.ts';
import type { PathChange, PathState, UnitChange, UnitState } from './update-plan.ts';

export function unitChanges(current: DiskPlan, desired: DiskPlan, paths: readonly PathChange[]): UnitChange[] {
  const [old, now] = [statesOf(current), statesOf(desired)];
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

/** The unit that what is at a path belongs to; null for a file of its own. */
export function unitOf(path: string, state: PathState): string | null {
  const [name = ''] = path.slice(UNIT_DIRECTORY.length + 1).split('/');
  if (state.of === 'drop-in') return name.slice(0, -'.d'.length);
  return state.of === 'unit' || state.of === 'mask' ? name : null;
}

function unitsIn({ path, before, after }: PathChange): string[] {
  return [before, after].flatMap((state) => (state === null ? [] : (unitOf(path, state) ?? [])));
}

function statesOf(disk: DiskPlan): ReadonlyMap<string, UnitState> {
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
