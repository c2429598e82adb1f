// Applies patches to objects. Unchanged parts are shared with the original.
import { isRecord } from '@slipway/base/json';

type Fields = Readonly<Record<string, unknown>>;

/** RFC 7396: null removes a field, objects are merged, everything else is replaced. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const fields: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete fields[name];
    else fields[name] = mergePatch(fields[name], value);
  }
  return fields;
}

/** RFC 6902, the operations that our clients use. Undefined: the patch does not fit the object. */
export function jsonPatch(target: unknown, operations: readonly object[]): unknown {
  let result: unknown = target;
  for (const operation of operations) {
    const { op, path, value } = readOperation(operation);
    const way = path
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    result = change(result, way, op, value);
    if (result === undefined) return undefined;
  }
  return result;
}

function readOperation(operation: object): { op: string; path: string; value: unknown } {
  const { op, path, value } = operation as Fields;
  if (typeof op !== 'string' || typeof path !== 'string') throw new Error('a JSON patch has op and path');
  return { op, path, value };
}

function change(target: unknown, [step, ...rest]: readonly string[], op: string, value: unknown): unknown {
  if (step === undefined) return op === 'remove' ? undefined : value;
  if (Array.isArray(target)) return changeItem(target, step, rest, op, value);
  if (!isRecord(target)) return undefined;
  if (rest.length === 0) return changeField(target, step, op, value);
  const changed = change(target[step], rest, op, value);
  return changed === undefined ? undefined : { ...target, [step]: changed };
}

function changeField(target: Fields, field: string, op: string, value: unknown): unknown {
  if (op !== 'add' && !(field in target)) return undefined;
  if (op === 'test') return JSON.stringify(target[field]) === JSON.stringify(value) ? target : undefined;
  const { [field]: _, ...others } = target;
  return op === 'remove' ? others : { ...target, [field]: value };
}

function changeItem(
  list: readonly unknown[],
  step: string,
  rest: readonly string[],
  op: string,
  value: unknown,
): unknown {
  const place = step === '-' ? list.length : Number(step);
  if (rest.length === 0 && op === 'add') return list.toSpliced(place, 0, value);
  if (!(place in list)) return undefined;
  if (rest.length === 0 && op === 'remove') return list.toSpliced(place, 1);
  const changed = rest.length === 0 ? value : change(list[place], rest, op, value);
  return changed === undefined ? undefined : list.with(place, changed);
}
