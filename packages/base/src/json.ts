/** An object as JSON has it: neither an array nor null. */
export type JsonRecord = Record<string, unknown>;

/** Whether this is an object with keys. An array is not one: what reads keys of it would find nothing and go on. */
export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
