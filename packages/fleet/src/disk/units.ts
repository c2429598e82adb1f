// Systemd units as files, drop-ins, masks and presets.
import type { RenderedIgnition } from '../render/ignition.ts';
import { DEFAULT_FILE_MODE, type DiskFile, type DiskLink, type Preset, UNIT_DIRECTORY } from './disk-plan.ts';
import { ROOT } from './nodes.ts';

type Unit = NonNullable<NonNullable<RenderedIgnition['systemd']>['units']>[number];

/**
 * A masked unit has no file of its own: the mask takes its place. Its drop-ins stay. Empty contents are none for a unit, but
 * make an empty drop-in, which hides one of the OS with the same name.
 */
export function unitEntries(unit: Unit): (DiskFile | DiskLink)[] {
  const path = pathOf(unit);
  const entries: (DiskFile | DiskLink)[] = (unit.dropins ?? [])
    .filter(({ contents }) => contents !== undefined)
    .map(({ name, contents = '' }) => textFile(`${path}.d/${name}`, contents, 'drop-in'));
  if (unit.mask === true) {
    entries.push({ kind: 'link', path, target: '/dev/null', user: ROOT, group: ROOT, of: 'mask' });
  } else if (unit.contents !== undefined && unit.contents !== '') entries.push(textFile(path, unit.contents, 'unit'));
  return entries;
}

export function unmaskedIn(units: readonly Unit[]): string[] {
  return units.filter((unit) => unit.mask === false).map(pathOf);
}

/** One line a unit; instances of one template share a line. */
export function presetsOf(units: readonly Unit[]): Preset[] {
  const presets = new Map<string, { action: Preset['action']; unit: string; instances: string[] }>();
  for (const { name, enabled } of units) {
    if (enabled === undefined) continue;
    const action = enabled ? 'enable' : 'disable';
    const { unit, instance } = splitInstance(name);
    const preset = presets.get(`${action} ${unit}`) ?? { action, unit, instances: [] };
    presets.set(`${action} ${unit}`, preset);
    if (instance !== null) preset.instances.push(instance);
  }
  return [...presets.values()].map(({ action, unit, instances }) => {
    return { action, unit, instances, line: [action, unit, ...instances].join(' ') };
  });
}

/** echo@one.service is the instance `one` of echo@.service. */
function splitInstance(name: string): { unit: string; instance: string | null } {
  const at = name.indexOf('@');
  const dot = name.lastIndexOf('.');
  if (at < 0 || dot < at) return { unit: name, instance: null };
  return { unit: name.slice(0, at + 1) + name.slice(dot), instance: name.slice(at + 1, dot) };
}

function pathOf({ name }: Unit): string {
  return `${UNIT_DIRECTORY}/${name}`;
}

function textFile(path: string, text: string, of: 'unit' | 'drop-in'): DiskFile {
  const bytes = new TextEncoder().encode(text);
  return { kind: 'file', path, mode: DEFAULT_FILE_MODE, user: ROOT, group: ROOT, bytes, keepsExisting: false, of };
}
