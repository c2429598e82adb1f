import type { Field, Kind, Shape } from '../src/spec/field.ts';

type Json = Record<string, unknown>;

/**
 * A canonical form of each config, so that two can be compared as text. Go writes every struct, even an empty one, and
 * omits zero values if a field is not a pointer; Slipway keeps the input. Both mean the same, so empty structs, empty
 * lists and the zero of a field that cannot be absent are omitted, and keys are sorted.
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
  // In Go's JSON an unset required list or pointer is null.
  if (value === null) return undefined;
  const written = writeValue(value, field.kind);
  return field.presence !== 'ifset' && isZero(written) ? undefined : written;
}

function writeValue(value: unknown, kind: Kind): unknown {
  if (kind.type === 'list') return Array.isArray(value) ? value.map((item) => writeValue(item, kind.item)) : value;
  if (kind.type === 'object') return writeObject(value, kind);
  // UTF-8 cannot encode half a surrogate pair: Go and every UTF-8 encoder write U+FFFD for it.
  return typeof value === 'string' ? value.toWellFormed() : value;
}

function isZero(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === '' || value === 0 || value === false;
}
