import { type AnyConfig, type Config2, isSpec2, type ReportEntry } from '@slipway/ignition';

// Spec 2 allows a file, unit or user several times in one config, spec 3 does not. Existing MachineConfigs of spec 2 are
// read as the Machine Config Operator reads them: it merges these entries before it translates a config.

type Unit = NonNullable<NonNullable<Config2['systemd']>['units']>[number];
type User = NonNullable<NonNullable<Config2['passwd']>['users']>[number];

interface MergedEntries {
  readonly config: AnyConfig;
  /** One for each entry that another one overrides. */
  readonly warnings: readonly ReportEntry[];
}

/** The last entry wins; drop-ins of a unit and SSH keys of a user add up. */
export function mergeRepeatedEntries(config: AnyConfig): MergedEntries {
  if (!isSpec2(config)) return { config, warnings: [] };
  const merged = structuredClone(config);
  // Appending files are not merged: each adds to the one before.
  const files = merged.storage?.files ?? [];
  const appended = new Set(files.filter(({ append }) => append === true).map(({ path }) => path));
  const warnings = [
    ...keepLast(
      files,
      'storage.files',
      ({ path }) => (appended.has(path) ? null : path),
      'wins',
      () => {},
    ),
    ...keepLast(merged.systemd?.units ?? [], 'systemd.units', nameOf, 'wins; their drop-ins add up', addDropins),
    ...keepLast(merged.passwd?.users ?? [], 'passwd.users', nameOf, 'wins; their SSH keys add up', addKeys),
  ];
  return { config: merged, warnings };
}

const nameOf = ({ name }: { name: string }): string => name;

/** Changes the list. `keyOf`: null for an entry that stays. */
function keepLast<T>(
  list: T[],
  at: string,
  keyOf: (entry: T) => string | null,
  effect: string,
  add: (last: T, earlier: T) => void,
): ReportEntry[] {
  const last = new Map<string, number>();
  const dropped = new Set<number>();
  const warnings: ReportEntry[] = [];
  for (const [index, entry] of [...list.entries()].toReversed()) {
    const key = keyOf(entry);
    if (key === null) continue;
    const winner = last.get(key);
    if (winner === undefined) {
      last.set(key, index);
      continue;
    }
    const later = list[winner];
    if (later !== undefined) add(later, entry);
    dropped.add(index);
    const message = `${at}[${winner}] repeats ${JSON.stringify(key.slice(0, 200))}, and ${effect}. Remove one of the two`;
    warnings.unshift({ kind: 'warning', path: `${at}[${index}]`, message });
  }
  list.splice(0, list.length, ...list.filter((_, index) => !dropped.has(index)));
  return warnings;
}

function addDropins(last: Unit, { dropins = [] }: Unit): void {
  const own = last.dropins ?? [];
  const names = new Set(own.map(nameOf));
  const more = dropins.filter(({ name }) => !names.has(name));
  if (more.length > 0) last.dropins = [...own, ...more];
}

function addKeys(last: User, { sshAuthorizedKeys = [] }: User): void {
  if (sshAuthorizedKeys.length === 0) return;
  last.sshAuthorizedKeys = [...new Set([...(last.sshAuthorizedKeys ?? []), ...sshAuthorizedKeys])];
}
