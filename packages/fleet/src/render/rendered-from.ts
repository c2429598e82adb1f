// The MachineConfigs that a rendered config was made from, as its annotation has them, and what changed among them.
import { isRecord } from '@slipway/base/json';

export interface RenderedFrom {
  readonly name: string;
  readonly generation: number;
  /** Of its spec: differs where the spec does. */
  readonly digest: string;
}

export interface SourceChange {
  readonly name: string;
  readonly change: 'added' | 'removed' | 'changed';
}

const MOST_CHARACTERS = 256 * 1024;

/** Null: the annotation is not there, or nobody can read it. */
export function readRenderedFrom(annotation: string | undefined): RenderedFrom[] | null {
  if (annotation === undefined || annotation === '' || annotation.length > MOST_CHARACTERS) return null;
  try {
    const parsed: unknown = JSON.parse(annotation);
    return Array.isArray(parsed) && parsed.every(isSource) ? parsed : null;
  } catch {
    return null;
  }
}

const isSource = (each: unknown): each is RenderedFrom =>
  isRecord(each) &&
  typeof each['name'] === 'string' &&
  typeof each['generation'] === 'number' &&
  typeof each['digest'] === 'string';

/** In the order of their names. */
export function sourceChanges(before: readonly RenderedFrom[], after: readonly RenderedFrom[]): SourceChange[] {
  const old = new Map(before.map(({ name, digest }) => [name, digest]));
  const now = new Map(after.map(({ name, digest }) => [name, digest]));
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  return names.flatMap((name): SourceChange[] => {
    if (!old.has(name)) return [{ name, change: 'added' }];
    if (!now.has(name)) return [{ name, change: 'removed' }];
    return old.get(name) === now.get(name) ? [] : [{ name, change: 'changed' }];
  });
}
