// Reading and changing what comes from outside as JSON, without trusting its shape: only own fields count, so that a region
// called `constructor` is not found.
import { isEqual } from '@slipway/base/equal';
import { isRecord } from '@slipway/base/json';
import { truncate } from '@slipway/base/text';

/** As the API server keeps it: nothing of it is ours but the image and the reference to user data. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

const MAX_SHOWN = 120;

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
export const shown = (value: Json | undefined): string =>
  truncate(value === undefined ? 'nothing' : JSON.stringify(value), MAX_SHOWN);

// The steps of a JSON patch that lead from one value to another, and touch nothing else. A merge patch would not do: it puts
// lists whole in place of the old ones, and the server drops what is null in them.

export type PatchStep =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string };

/** `path`: where the value lies, as a JSON pointer. */
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

/** Sets annotations, or with null takes them away, on an object that may have none yet. */
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

const escapePointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
