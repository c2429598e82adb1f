// Results of parsing, validating and translating, as plain data that a command, a condition or a page can show.

export interface ReportEntry {
  readonly kind: 'error' | 'warning' | 'info';
  /** Path in the config, like `storage.files[3].contents.source`; '' for the config as a whole. */
  readonly path: string;
  readonly message: string;
}

export type Report = ReportEntry[];

/** A hostile config can have a million errors; a user reads the first ones. */
export const MAX_ENTRIES_PER_KIND = 1000;

export function hasErrors(report: readonly ReportEntry[]): boolean {
  return report.some((entry) => entry.kind === 'error');
}

/** Collects entries up to a limit per kind; the report then states how many are omitted. */
export class Findings {
  readonly #entries: Report = [];
  readonly #counts = { error: 0, warning: 0, info: 0 };

  error(path: string, message: string): void {
    this.#add({ kind: 'error', path, message });
  }

  warn(path: string, message: string): void {
    this.#add({ kind: 'warning', path, message });
  }

  info(path: string, message: string): void {
    this.#add({ kind: 'info', path, message });
  }

  /** For findings that hostile input causes by the thousand: path and message are built only below the limit. */
  addIfRoom(kind: ReportEntry['kind'], make: () => { path: string; message: string }): void {
    if (this.#counts[kind] < MAX_ENTRIES_PER_KIND) this.#add({ kind, ...make() });
    else this.#counts[kind] += 1;
  }

  addAll(entries: readonly ReportEntry[]): void {
    for (const entry of entries) this.#add(entry);
  }

  get failed(): boolean {
    return this.#counts.error > 0;
  }

  /** There are more errors than a report lists: reading further cannot change the verdict. */
  get hopeless(): boolean {
    return this.#counts.error > MAX_ENTRIES_PER_KIND;
  }

  report(): Report {
    const report = [...this.#entries];
    for (const kind of ['error', 'warning', 'info'] as const) {
      const left = this.#counts[kind] - MAX_ENTRIES_PER_KIND;
      if (left > 0)
        report.push({ kind, path: '', message: `at least ${left} more entries of kind ${kind} are not listed` });
    }
    return report;
  }

  #add(entry: ReportEntry): void {
    this.#counts[entry.kind] += 1;
    if (this.#counts[entry.kind] <= MAX_ENTRIES_PER_KIND) this.#entries.push(entry);
  }
}

const SHOWN_LENGTH = 80;

/** Formats a value for a message: quoted, on one line, of bounded length. */
export function show(value: unknown): string {
  if (typeof value === 'string') {
    const cut = value.length > SHOWN_LENGTH ? `${value.slice(0, SHOWN_LENGTH)}…` : value;
    return JSON.stringify(cut);
  }
  return typeof value === 'number' || typeof value === 'boolean' || value === null ? String(value) : nameType(value);
}

/** Formats a source for a message: never its data, user, password or query, which may be secret. */
export function showSource(source: string): string {
  if (/^data:/i.test(source)) {
    const comma = source.indexOf(',');
    return show(comma < 0 ? source.slice(0, 40) : `${source.slice(0, Math.min(comma, 60))},…`);
  }
  const withoutUser = source.replace(/^([a-z0-9+.-]*:?\/\/)[^/]*@/i, '$1…@');
  return show(withoutUser.replace(/\?.*$/s, '?…'));
}

export function nameType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'object':
      return 'an object';
    case 'boolean':
      return 'true or false';
    case 'undefined':
      return 'nothing';
    default:
      return `a ${typeof value}`;
  }
}

// Paths into a config, as in reports and provenance: `storage.files[3].contents.source`.

const PLAIN_KEY = /^[A-Za-z_][\w-]*$/;
const SHOWN_KEY_LENGTH = 80;

/** Adds a key; one that would be ambiguous with dots and brackets is quoted: `storage["a.b"]`. */
export function joinKey(path: string, key: string): string {
  if (PLAIN_KEY.test(key) && key.length <= SHOWN_KEY_LENGTH) return path === '' ? key : `${path}.${key}`;
  const cut = key.length > SHOWN_KEY_LENGTH ? `${key.slice(0, SHOWN_KEY_LENGTH)}…` : key;
  return `${path}[${JSON.stringify(cut)}]`;
}

export function joinIndex(path: string, index: number): string {
  return `${path}[${index}]`;
}

export function formatPath(segments: readonly (string | number)[]): string {
  let path = '';
  for (const segment of segments)
    path = typeof segment === 'number' ? joinIndex(path, segment) : joinKey(path, segment);
  return path;
}
