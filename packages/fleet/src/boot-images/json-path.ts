// Reading and changing what comes from outside as JSON, without trusting its shape: only own fields count, so that a region
// called `constructor` is not found.
import { isRecord } from '@slipway/base/json';
import type { Json, JsonObject } from './verdict.ts';

const LONGEST_SHOWN = 120;

export const isJsonObject = (value: unknown): value is JsonObject => isRecord(value);

/** Undefined: it is not there. */
export function fieldAt(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let found = value;
  for (const key of path) {
    if (!isJsonObject(found) || !Object.hasOwn(found, key)) return undefined;
    found = found[key];
  }
  return found;
}

/** '': there is no text. */
export function textAt(value: Json | undefined, ...path: readonly string[]): string {
  const found = fieldAt(value, ...path);
  return typeof found === 'string' ? found : '';
}

/** Empty: there is no object. */
export function objectAt(value: Json | undefined, ...path: readonly string[]): JsonObject {
  const found = fieldAt(value, ...path);
  return isJsonObject(found) ? found : {};
}

/** The same with another value at the path; nothing else changes, not even the order of fields. */
export function withField(value: JsonObject, path: readonly [string, ...string[]], field: Json): JsonObject {
  const [key, ...rest] = path;
  const [next, ...others] = rest;
  if (next === undefined) return { ...value, [key]: field };
  return { ...value, [key]: withField(objectAt(value, key), [next, ...others], field) };
}

/** For messages: short, and on one line. */
export const shown = (value: Json | undefined): string => {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
};
