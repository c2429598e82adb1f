import type { HouseMeasure, MeasureName } from './measure.ts';

/**
 * The target of a measure.
 * - `held`: `npm run check` fails beyond the limit.
 * - `not yet`: a target that the tree has not reached. The change that reaches it makes it `held`.
 * - `once`: a target for one day, shown and never checked: later changes add files.
 */
export interface Limit {
  readonly most?: number;
  readonly least?: number;
  readonly state: 'held' | 'not yet' | 'once';
  /** At 5f9ffb5, by `npm run measure -- --root` of a checkout of it. */
  readonly before: number;
}

const LIMITS: Readonly<Record<MeasureName, Limit>> = {
  'product files': { most: 650, state: 'once', before: 1020 },
  'product lines': { state: 'once', before: 72_487 },
  'median lines': { least: 85, state: 'once', before: 57 },
  'longest function': { most: 80, state: 'held', before: 78 },
  'fullest folder': { most: 20, state: 'held', before: 46 },
  'cross-job imports': { most: 0, state: 'held', before: 33 },
  'folder cycles': { most: 0, state: 'held', before: 3 },
  'folder cycles elsewhere': { most: 0, state: 'held', before: 2 },
  'CLI files importing controllers': { most: 1, state: 'held', before: 31 },
  'names that the CLI imports from controllers': { most: 20, state: 'once', before: 111 },
  'small single-importer files': { most: 20, state: 'once', before: 136 },
  'small files beside their only importer': { most: 20, state: 'held', before: 108 },
  // A quarter of the original number.
  'duplicates of 8 lines or more': { most: 7, state: 'held', before: 29 },
  'raw client.patch': { most: 0, state: 'held', before: 38 },
  'raw client.create, apply and delete': { most: 0, state: 'held', before: 39 },
};

export type Verdict = 'ok' | 'not yet' | 'BROKEN' | '';

export function judge(value: number, { most, least, state }: Omit<Limit, 'before'>): Verdict {
  if (most === undefined && least === undefined) return '';
  if (value <= (most ?? Infinity) && value >= (least ?? -Infinity)) return 'ok';
  return state === 'held' ? 'BROKEN' : 'not yet';
}

/** The measures as a table: before, now, target. */
export function formatTable(measures: readonly HouseMeasure[]): string {
  const rows = measures.map(({ name, value }) => {
    const limit = LIMITS[name];
    return [name, String(limit.before), String(value), formatTarget(limit), judge(value, limit)];
  });
  const table = [['measure', 'at 5f9ffb5', 'now', 'target', ''], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function formatTarget({ most, least }: Limit): string {
  if (most !== undefined) return most === 0 ? '0' : `≤ ${most}`;
  return least === undefined ? '' : `≥ ${least}`;
}

/** The output of `npm run check`: a line for each exceeded limit, with the places; nothing if all hold. */
export function formatBroken(measures: readonly HouseMeasure[]): string[] {
  return measures.flatMap(({ name, value, places }) => {
    const limit = LIMITS[name];
    if (judge(value, limit) !== 'BROKEN') return [];
    return [`${name}: ${value}, and the limit is ${formatTarget(limit)}`, ...places.map((place) => `  ${place}`)];
  });
}
