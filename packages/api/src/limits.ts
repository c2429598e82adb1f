import { show } from './problem.ts';
import type { SchemaNode } from './schema.ts';

/** What the value should have been, or nothing if it is. */
type Limit = (node: SchemaNode, value: unknown) => string | undefined;

const dateTimePattern = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

// The formats whose meaning needs no library; the server checks the others as well.
const formats: Record<string, { expected: string; holds: (value: unknown) => boolean }> = {
  'date-time': {
    expected: 'be a time such as 2026-01-31T12:00:00Z',
    holds: (value) => typeof value === 'string' && dateTimePattern.test(value) && !Number.isNaN(Date.parse(value)),
  },
  int32: {
    expected: 'be a whole number of 32 bits',
    holds: (value) => typeof value === 'number' && value >= -(2 ** 31) && value < 2 ** 31,
  },
  uri: { expected: 'be an absolute URL', holds: (value) => typeof value === 'string' && URL.canParse(value) },
};

const patterns = new Map<string, RegExp>();

function patternOf(source: string): RegExp {
  const pattern = patterns.get(source) ?? new RegExp(source);
  patterns.set(source, pattern);
  return pattern;
}

// kube-apiserver counts code points, not UTF-16 units.
const lengthOf = (value: string): number => Array.from(value).length;

const isOutside = (size: number, min: number | undefined, max: number | undefined): boolean =>
  (min !== undefined && size < min) || (max !== undefined && size > max);

function expectedRange(what: string, min: number | undefined, max: number | undefined): string {
  if (min === undefined) return `${what} at most ${max}`;
  return max === undefined ? `${what} at least ${min}` : `${what} from ${min} to ${max}`;
}

const choices: Limit = (node, value) =>
  node.enum === undefined || node.enum.includes(value)
    ? undefined
    : `be one of ${node.enum.map((choice) => show(choice)).join(', ')}`;

const format: Limit = (node, value) => {
  const known = formats[node.format ?? ''];
  return known === undefined || known.holds(value) ? undefined : known.expected;
};

const length: Limit = ({ minLength, maxLength }, value) =>
  typeof value === 'string' && isOutside(lengthOf(value), minLength, maxLength)
    ? expectedRange('have a length of', minLength, maxLength)
    : undefined;

const pattern: Limit = ({ pattern: source, maxLength = Infinity }, value) => {
  // What is too long is said already, and is not worth the time.
  if (source === undefined || typeof value !== 'string' || value.length > maxLength * 2) return undefined;
  return patternOf(source).test(value) ? undefined : `match the pattern ${source}`;
};

const range: Limit = ({ minimum, maximum }, value) =>
  typeof value === 'number' && isOutside(value, minimum, maximum) ? expectedRange('be', minimum, maximum) : undefined;

const items: Limit = ({ minItems, maxItems }, value) =>
  Array.isArray(value) && isOutside(value.length, minItems, maxItems)
    ? expectedRange('have a number of entries of', minItems, maxItems)
    : undefined;

const limits: readonly Limit[] = [choices, format, length, pattern, range, items];

/** What the value should have been, by the limits of its own node. */
export const brokenLimits = (node: SchemaNode, value: unknown): string[] =>
  limits.flatMap((limit) => limit(node, value) ?? []);
