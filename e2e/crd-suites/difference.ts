// What the server fills in by itself.
import { isRecord } from '@slipway/base/json';

const serverFields = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'managedFields',
  'generateName',
  'selfLink',
]);

const toEntries = (value: unknown): Record<string, unknown> =>
  Array.isArray(value) ? Object.fromEntries(value.entries()) : isRecord(value) ? value : {};

const show = (value: unknown): string => JSON.stringify(value) ?? 'nothing';

/** Where two values differ, as `path: expected … found …`. */
export function differences(expected: unknown, found: unknown, path = ''): string[] {
  const sameShape = Array.isArray(expected) === Array.isArray(found) && isRecord(expected) === isRecord(found);
  if (!sameShape || !(isRecord(expected) || Array.isArray(expected))) {
    return Object.is(expected, found) ? [] : [`${path}: expected ${show(expected)}, found ${show(found)}`];
  }
  const ours = toEntries(expected);
  const theirs = toEntries(found);
  return [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].flatMap((key) =>
    differences(ours[key], theirs[key], path === '' ? key : `${path}.${key}`),
  );
}

/** The object without what the server has added, and under the name and namespace that it was given. */
function comparable(object: Record<string, unknown>, identity: object): Record<string, unknown> {
  const metadata = Object.entries(toEntries(object['metadata'])).filter(([field]) => !serverFields.has(field));
  return { ...object, metadata: { ...Object.fromEntries(metadata), ...identity } };
}

/** Where a stored object differs from the one a suite expects. */
export function objectDifferences(expected: Record<string, unknown>, stored: Record<string, unknown>): string[] {
  const { name, namespace } = toEntries(stored['metadata']);
  const identity = { name, ...(namespace !== undefined && { namespace }) };
  return differences(comparable(expected, identity), comparable(stored, identity));
}
