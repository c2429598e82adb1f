// The fields that a running machine cannot follow, in the form that the API has for them.
import type { Irreconcilable } from '@slipway/fleet';

export interface IrreconcilableChange {
  readonly fieldPath: string;
  readonly diff: string;
}

const maxChanges = 32;
const maxPath = 70;
const maxDiff = 4096;

/** Each path once. Keys in brackets, such as a device, become what the API allows; the diff says them in full. */
export function irreconcilableChangesOf(found: readonly Irreconcilable[]): IrreconcilableChange[] {
  const taken = new Set<string>();
  return found.slice(0, maxChanges).map(({ field, before, after }) => {
    const fieldPath = freePath(pathOf(field), taken);
    taken.add(fieldPath);
    return { fieldPath, diff: cut(`${field}: ${before ?? 'not there'} → ${after ?? 'not there'}`, maxDiff) };
  });
}

/** Letters, digits, dots and brackets. */
function pathOf(field: string): string {
  const allowed = field.replaceAll(/[^0-9a-zA-Z.[\]]/g, '').slice(0, maxPath);
  return allowed.startsWith('spec.') ? allowed : `spec.${allowed}`.slice(0, maxPath);
}

function freePath(path: string, taken: ReadonlySet<string>): string {
  for (let number = 1, free = path; ; number += 1) {
    if (!taken.has(free)) return free;
    const end = `[${number}]`;
    free = path.slice(0, maxPath - end.length) + end;
  }
}

const cut = (text: string, length: number): string => (text.length <= length ? text : `${text.slice(0, length - 1)}…`);
