// Reads and changes external JSON without trusting its shape: only own properties count, so that a region named
// `constructor` is not found.
import { isEqual } from '@slipway/base/equal';
import { isRecord } from '@slipway/base/json';
import { truncate } from '@slipway/base/text';

/** As stored by the API server: we manage only the image and the reference to user data. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

const MAX_SHOWN = 120;

export const isJsonObject = (value: unknown): value is JsonObject => isRecord(value);

/** Undefined: the path does not exist. */
export function fieldAt(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let found = value;
  for (const key of path) {
    if (!isJsonObject(found) || !Object.hasOwn(found, key)) return undefined;
    found = found[key];
  }
  return found;
}

/** '': no string at the path. */
export function textAt(value: Json | undefined, ...path: readonly string[]): string {
  const found = fieldAt(value, ...path);
  return typeof found === 'string' ? found : '';
}

/** Empty: no object at the path. */
export function objectAt(value: Json | undefined, ...path: readonly string[]): JsonObject {
  const found = fieldAt(value, ...path);
  return isJsonObject(found) ? found : {};
}

/** A copy with another value at the path; everything else stays, including the order of fields. */
export function withField(value: JsonObject, path: readonly [string, ...string[]], field: Json): JsonObject {
  const [key, ...rest] = path;
  const [next, ...others] = rest;
  if (next === undefined) return { ...value, [key]: field };
  return { ...value, [key]: withField(objectAt(value, key), [next, ...others], field) };
}

/** For messages: short, on one line. */
export const shown = (value: Json | undefined): string =>
  truncate(value === undefined ? 'nothing' : JSON.stringify(value), MAX_SHOWN);

// The JSON patch from one value to another that touches nothing else. A merge patch would replace whole lists, and the
// server drops null values in them.

export type PatchStep =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string };

/** `path`: JSON pointer to the value. */
export function patchSteps(before: Json, after: Json, path: string): PatchStep[] {
  if (isEqual(before, after)) return [];
  if (isRecord(before) && isRecord(after)) return stepsOfObject(before, after, path);
  if (isList(before) && isList(after) && before.length === after.length) {
    return after.flatMap((value, at) => patchSteps(before[at] ?? null, value, `${path}/${at}`));
  }
  return [{ op: 'replace', path, value: after }];
}

function stepsOfObject(before: JsonObject, after: JsonObject, path: string): PatchStep[] {
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  return [
    ...gone.map((key): PatchStep => ({ op: 'remove', path: `${path}/${escapePointer(key)}` })),
    ...Object.entries(after).flatMap(([key, value]): PatchStep[] => {
      const at = `${path}/${escapePointer(key)}`;
      const old = Object.hasOwn(before, key) ? before[key] : undefined;
      return old === undefined ? [{ op: 'add', path: at, value }] : patchSteps(old, value, at);
    }),
  ];
}

/** Sets annotations, or removes them if null; the object may have none yet. */
export function annotationSteps(
  annotations: Readonly<Record<string, string>> | undefined,
  wanted: Readonly<Record<string, string | null>>,
): PatchStep[] {
  const kept = { ...annotations };
  for (const [key, value] of Object.entries(wanted)) {
    if (value === null) Reflect.deleteProperty(kept, key);
    else kept[key] = value;
  }
  const path = '/metadata/annotations';
  if (annotations !== undefined) return patchSteps(annotations, kept, path);
  return Object.keys(kept).length === 0 ? [] : [{ op: 'add', path, value: kept }];
}

export const toPointer = (path: readonly string[]): string => path.map((key) => `/${escapePointer(key)}`).join('');

const escapePointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
