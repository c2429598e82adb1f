// Failures of a resolve: the field, the URL, the cause and what to do.
import type { ResolveCode } from '../errors.ts';
import { type ReportEntry, showSource } from '../report.ts';

export interface ResolveEntry extends ReportEntry {
  readonly code: ResolveCode;
  /** The caller's name for the input config, such as `MachineConfig 99-worker`. */
  readonly input: string;
  /** The URL without credentials and query, or '' if no URL is at fault. */
  readonly url: string;
}

/** A field in the input config, or in a config fetched from there. */
export interface FieldLocation {
  input: string;
  /** The field of the input config. */
  path: string;
  /** The configs fetched from that field on, and the field in the last of them. */
  inside: readonly { url: string; path: string }[];
}

export class ResolveError extends Error {
  readonly entry: ResolveEntry;

  constructor(code: ResolveCode, place: FieldLocation, source: string, problem: string) {
    super(problem);
    this.name = 'ResolveError';
    const url = source === '' ? '' : maskUrl(source);
    const inside = place.inside.map((step) => ` → ${step.url}${step.path === '' ? '' : `, ${step.path}`}`).join('');
    const where = `${place.input}, ${place.path === '' ? 'the whole config' : place.path}${inside}`;
    this.entry = {
      kind: 'error',
      code,
      input: place.input,
      path: place.path,
      url,
      message: `${where}${url === '' ? '' : ` (${url})`}: ${problem}`,
    };
  }
}

/** One field deeper. */
export function atField(place: FieldLocation, field: string): FieldLocation {
  const last = place.inside.at(-1);
  if (last === undefined) return { ...place, path: joinPath(place.path, field) };
  return { ...place, inside: [...place.inside.slice(0, -1), { url: last.url, path: joinPath(last.path, field) }] };
}

/** Inside the config that was fetched from `source`. */
export function enterFetchedConfig(place: FieldLocation, source: string): FieldLocation {
  return { ...place, inside: [...place.inside, { url: maskUrl(source), path: '' }] };
}

/** Formats a URL for a message: no credentials, no query, no contents. */
export function maskUrl(source: string): string {
  // As the URL parser reads it, because it also finds credentials in spellings like https:user:password@host.
  const url = /^https?:/i.test(source) ? URL.parse(source) : null;
  if (url !== null) {
    const user = url.username === '' && url.password === '' ? '' : '…@';
    const path = url.pathname.length > MAX_PATH ? `${url.pathname.slice(0, MAX_PATH)}…` : url.pathname;
    return `${url.protocol}//${user}${url.host}${path}${url.search === '' ? '' : '?…'}`;
  }
  const shown: unknown = JSON.parse(showSource(source));
  return typeof shown === 'string' ? shown : '';
}

const MAX_PATH = 200;

function joinPath(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`;
}
