/** An object as JSON has it: neither an array nor null. */
export type JsonRecord = Record<string, unknown>;

/** Whether this is an object with keys. An array is not one: what reads keys of it would find nothing and go on. */
export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What was read, or why it cannot be. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** Longer texts are not parsed at all. */
export interface ParseLimit {
  readonly maxChars?: number;
}

/** The problem never quotes the text, as the message of JSON.parse does: it may be secret. */
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

/** A value by its kind, for "found …" in messages: never its content, which may be secret. */
export function describeKind(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a date';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
