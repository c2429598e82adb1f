/** Something in an object that its schema does not allow. */
export interface Problem {
  /** Where, as users write it: `spec.pinnedImages[0].name`. Empty for the object as a whole. */
  path: string;
  /** What was expected and what was found. */
  message: string;
}

// The object comes from outside, and more than this helps nobody.
const maxProblems = 50;
const maxShown = 80;

/** Collects problems, up to a limit. */
export class Problems {
  readonly found: Problem[] = [];

  add(path: string, message: string): void {
    if (this.found.length < maxProblems) this.found.push({ path, message });
  }
}

/** A value as it can be shown to people: short, and never the inside of an object. */
export function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  const shown = JSON.stringify(value) ?? 'nothing';
  return shown.length > maxShown ? `${shown.slice(0, maxShown)}…` : shown;
}

const plainName = /^[A-Za-z_][\w-]*$/;

export function fieldPath(path: string, name: string): string {
  if (!plainName.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

export const itemPath = (path: string, index: number): string => `${path}[${index}]`;
