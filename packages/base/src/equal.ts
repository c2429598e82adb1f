import { isRecord } from './json.ts';

/** Whether two values are equal as JSON: key order is ignored, and an undefined key equals a missing one. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, at) => isEqual(item, b[at]));
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = listDefinedKeys(a);
  return (
    keys.length === listDefinedKeys(b).length && keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]))
  );
}

const listDefinedKeys = (record: Record<string, unknown>): string[] =>
  Object.keys(record).filter((key) => record[key] !== undefined);
