// Bytes for people, in the decimal units that disks and networks are sold in, and back.

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;
/** Enough that a machine's disk is told to a tenth of a percent. */
const DIGITS = 4;
/** No disk has more, and it is a number that is not rounded any more. */
const MOST = 9.999e15;

export type Rounding = 'down' | 'up';

/** `1.234 GB`: four digits, rounded as asked. What is printed reads back as itself. */
export function formatBytes(bytes: number, rounding: Rounding = 'down'): string {
  const rounded = roundBytes(bytes, rounding);
  const unit = Math.min(units.length - 1, Math.floor((String(rounded).length - 1) / 3));
  return `${rounded / 1000 ** unit} ${units[unit]}`;
}

/** To the precision that is printed. */
export function roundBytes(bytes: number, rounding: Rounding): number {
  const whole = Math.min(Math.max(0, Math.floor(bytes)), MOST);
  const step = 10 ** Math.max(0, String(whole).length - DIGITS);
  const rest = whole % step;
  return whole - rest + (rest > 0 && rounding === 'up' ? step : 0);
}

export const bytePattern = String.raw`\d{1,4}(?:\.\d{1,3})? (?:B|[kMGTP]B)`;

/** Of a text that matches bytePattern. */
export function parseBytes(text: string): number {
  const [amount = '', unit = ''] = text.split(' ');
  const [whole = '', fraction = ''] = amount.split('.');
  // By digits: a product of floating point numbers is a byte off for the largest.
  return Number(whole + fraction.padEnd(3 * units.findIndex((each) => each === unit), '0'));
}
