/** A JSON object: neither an array nor null. */
export type JsonRecord = Record<string, unknown>;

/** Arrays are excluded: code that reads keys would silently find none. */
export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

export interface ParseLimit {
  /** Longer texts are not parsed. */
  readonly maxChars?: number;
}

/** Unlike the message of JSON.parse, the problem never quotes the text, which may be secret. */
export function parseJson(text: string, { maxChars = Infinity }: ParseLimit = {}): Parsed<unknown> {
  if (text.length > maxChars) {
    return { ok: false, problem: `expected at most ${maxChars} characters, found ${text.length}` };
  }
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false, problem: 'expected JSON, found something else' };
  }
}

/** The type of a value, for "found …" in messages. Never its content, which may be secret. */
export function describeKind(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a date';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
