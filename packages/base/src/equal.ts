import { isRecord } from './json.ts';

/** Whether two values are equal as JSON: key order is ignored, and an undefined key equals a missing one. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a)) return Array.isArray(b) && hasSameItems(a, b);
  return isEqualExcept(undefined, a, b);
}

function hasSameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (!isEqual(a[at], b[at])) return false;
  return true;
}

/** The same for two objects, without one of their fields. Copies nothing: informers compare all that arrives. */
export function isEqualExcept(field: string | undefined, a: unknown, b: unknown): boolean {
  if (!isRecord(a) || !isRecord(b)) return false;
  let more = 0;
  for (const key of Object.keys(a)) {
    const value = a[key];
    if (value === undefined || key === field) continue;
    if (!Object.hasOwn(b, key) || !isEqual(value, b[key])) return false;
    more -= 1;
  }
  for (const key of Object.keys(b)) if (b[key] !== undefined && key !== field) more += 1;
  return more === 0;
}
