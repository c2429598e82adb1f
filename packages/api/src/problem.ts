// What is wrong with an object, and how messages show fields and values.

/** Why kube-apiserver would refuse an object. */
export interface Problem {
  /** Such as `spec.pinnedImages[0].name`. Empty for the whole object. */
  path: string;
  /** Reads as a sentence after the path. */
  message: string;
}

// Untrusted objects can have any number of problems; users read only the first ones.
const MAX_PROBLEMS = 50;
const MAX_SHOWN = 80;

export class Problems {
  readonly #found: Problem[] = [];

  get found(): readonly Problem[] {
    return this.#found;
  }

  add(path: string, message: string): void {
    if (this.#found.length < MAX_PROBLEMS) this.#found.push({ path, message });
  }
}

/** Whether the value is an object, and not a list or null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Formats a value for a message: short, and never the content of an object. */
export function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  const shown = JSON.stringify(value) ?? 'nothing';
  if (shown.length <= MAX_SHOWN) return shown;
  return `${shown.slice(0, MAX_SHOWN)}…${typeof value === 'string' ? '"' : ''}`;
}

export const showFound = (value: unknown): string => (value === undefined ? 'but is missing' : `not ${show(value)}`);

/** YAML reads 98 and true without quotes as a number and a boolean, and `name:value` as a text. */
export function quotingHint(expected: string, value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean')
    return expected === 'a string' ? '; write it in quotes' : '';
  if (typeof value !== 'string') return '';
  if (expected === 'true or false' && /^(true|false)$/.test(value)) return '; write it without quotes';
  return expected === 'an object' && /^[A-Za-z]+:[^/\s]/.test(value) ? '; YAML needs a space after a colon' : '';
}

const PLAIN_NAME = /^[A-Za-z_][\w-]*$/;

export function fieldPath(path: string, name: string): string {
  if (!PLAIN_NAME.test(name)) return `${path}[${show(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

export const itemPath = (path: string, index: number): string => `${path}[${index}]`;
