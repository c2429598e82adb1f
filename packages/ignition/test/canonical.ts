import type { Field, Kind, Shape } from '../src/spec/field.ts';

type Json = Record<string, unknown>;

/**
 * One way to write each config, so that two can be compared as text. Go writes every struct, even an empty one, and
 * leaves out zero values where a field is not a pointer; we keep what was said. Both mean the same: an empty struct,
 * an empty list and the zero of a field that cannot be absent are left out, keys are sorted.
 */
export function canonical(config: unknown, spec: Shape): string {
  return JSON.stringify(writeObject(config, spec));
}

function writeObject(value: unknown, shape: Shape): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const source = value as Json;
  const target: Json = {};
  for (const key of Object.keys(source).toSorted()) {
    const field = shape.fields[key];
    const written = field === undefined ? source[key] : writeField(source[key], field);
    if (written !== undefined) target[key] = written;
  }
  return target;
}

function writeField(value: unknown, field: Field): unknown {
  // In Go's JSON a required list or pointer that nobody set is null.
  if (value === null) return undefined;
  const written = writeValue(value, field.kind);
  return field.presence !== 'ifset' && isZero(written) ? undefined : written;
}

function writeValue(value: unknown, kind: Kind): unknown {
  if (kind.type === 'list') return Array.isArray(value) ? value.map((item) => writeValue(item, kind.item)) : value;
  if (kind.type === 'object') return writeObject(value, kind);
  // UTF-8 has no half of a surrogate pair: Go puts U+FFFD where JSON has one, and so does whoever writes ours out.
  return typeof value === 'string' ? value.toWellFormed() : value;
}

function isZero(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === '' || value === 0 || value === false;
}
