/** Text from outside, fit for a message: in one line, no longer than a line, without control characters. */
export function quote(text: string, longest = 200): string {
  const shown = JSON.stringify(text.slice(0, longest));
  return text.length > longest ? `${shown}… (${text.length} characters)` : shown;
}

/** A JSON or TOML value by its kind: never its content, which may be a secret. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a date';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
