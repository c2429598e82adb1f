/** What unit file and drop-ins together say: `Install.WantedBy` → all values, in their order. */
export type UnitSettings = ReadonlyMap<string, readonly string[]>;

/** The texts in the order in which they count. An empty value takes back what came before it, as systemd has it. */
export function readUnitSettings(texts: readonly string[]): UnitSettings {
  const settings = new Map<string, readonly string[]>();
  for (const text of texts) {
    for (const { key, value } of readLines(text)) {
      settings.set(key, value === '' ? [] : [...(settings.get(key) ?? []), value]);
    }
  }
  return settings;
}

/** Lists are written with spaces in one value, or with several values. */
export function readList(settings: UnitSettings, key: string): string[] {
  return (settings.get(key) ?? []).flatMap((value) => value.split(/\s+/)).filter((word) => word !== '');
}

function readLines(text: string): { key: string; value: string }[] {
  let section = '';
  const lines: { key: string; value: string }[] = [];
  for (const line of text.replaceAll(/\\\r?\n/g, ' ').split('\n')) {
    const trimmed = line.trim();
    const header = /^\[(.+)\]$/.exec(trimmed)?.[1];
    if (header !== undefined) section = header;
    const assignment = /^([A-Za-z][A-Za-z0-9-]*)\s*=\s*(.*)$/.exec(trimmed);
    if (assignment !== null) lines.push({ key: `${section}.${assignment[1] ?? ''}`, value: assignment[2] ?? '' });
  }
  return lines;
}
