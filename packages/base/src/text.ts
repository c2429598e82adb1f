// Formats text for messages, conditions and annotations.

/** Limits the number of UTF-16 code units, including the ending. Surrogate pairs are never split. */
export function truncate(text: string, maxChars: number, ending = '…'): string {
  if (text.length <= maxChars) return text;
  const available = maxChars - ending.length;
  return available < 0 ? head(text, maxChars) : head(text, available) + ending;
}

/** Keeps the end of the text, where commands print why they failed. */
export function truncateStart(text: string, maxChars: number, prefix = '…'): string {
  if (text.length <= maxChars) return text;
  const available = maxChars - prefix.length;
  return available < 0 ? tail(text, maxChars) : prefix + tail(text, available);
}

/** Limits the number of UTF-8 bytes, including the ending, for limits of the API server. No character is split. */
export function truncateBytes(text: string, maxBytes: number, ending = '…'): string {
  // A code unit has at most three bytes.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxBytes) return text;
  const available = maxBytes - new TextEncoder().encode(ending).length;
  return available < 0 ? headBytes(bytes, maxBytes) : headBytes(bytes, available) + ending;
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

function head(text: string, length: number): string {
  const end = Math.max(0, length);
  const isCut = isHighSurrogate(text.charCodeAt(end - 1)) && isLowSurrogate(text.charCodeAt(end));
  return text.slice(0, isCut ? end - 1 : end);
}

function tail(text: string, length: number): string {
  const start = text.length - Math.max(0, length);
  const isCut = isHighSurrogate(text.charCodeAt(start - 1)) && isLowSurrogate(text.charCodeAt(start));
  return text.slice(isCut ? start + 1 : start);
}

function headBytes(bytes: Uint8Array, length: number): string {
  let end = Math.max(0, length);
  // Bytes 10xxxxxx continue a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, end));
}

/** Replaces line breaks and the white space around them with one space. Spaces within a line are kept. */
export function oneLine(text: string, maxChars = Infinity): string {
  // Split instead of /\s*\n\s*/, which takes quadratic time on a long run of spaces.
  const lines = text.split('\n');
  const last = lines.length - 1;
  const trimmed = lines.map((line, index) => {
    const start = index === 0 ? line : line.trimStart();
    return index === last ? start : start.trimEnd();
  });
  return truncate(trimmed.filter((line, index) => index === 0 || index === last || line !== '').join(' '), maxChars);
}

/** For output of other programs: replaces control characters and white space with single spaces, and trims. */
export const printableLine = (text: string, maxChars = Infinity): string =>
  truncate(
    text
      .toWellFormed()
      .replaceAll(/[\p{Cc}\s]+/gu, ' ')
      .trim(),
    maxChars,
  );

/** In double quotes and in one line, for "found …" in messages. */
export const quote = (text: string, maxChars = 200): string => JSON.stringify(truncate(text, maxChars));

/** `1 node`, `2 nodes`, `0 nodes`. */
export const count = (amount: number, noun: string, plural = `${noun}s`): string =>
  `${amount} ${amount === 1 ? noun : plural}`;

export interface ListOptions {
  /** How many names are listed. */
  readonly max: number;
  readonly separator?: string;
  /** The number of all names, if `names` contains only the first ones. */
  readonly total?: number;
  /** Returned for an empty list. */
  readonly none?: string;
}

/** `a, b and 3 more`, in the order given. */
export function listNames(names: readonly string[], { max, separator = ', ', total, none = '' }: ListOptions): string {
  if (names.length === 0) return none;
  const shown = names.slice(0, max);
  const more = (total ?? names.length) - shown.length;
  return more > 0 ? `${shown.join(separator)} and ${more} more` : shown.join(separator);
}

// Decimal units, as used for disks and networks.
const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;
/** Enough to show the size of a disk to a tenth of a percent. */
const MAX_DIGITS = 4;
/** Larger than any disk, and every number up to it is exact. */
const MAX_BYTES = 9.999e15;

export type Rounding = 'down' | 'up';

/** `1.234 GB`: four digits. parseBytes returns exactly the formatted number. */
export function formatBytes(bytes: number, rounding: Rounding = 'down'): string {
  const rounded = roundBytes(bytes, rounding);
  const unit = Math.min(byteUnits.length - 1, Math.floor((String(rounded).length - 1) / 3));
  return `${rounded / 1000 ** unit} ${byteUnits[unit]}`;
}

/** Rounds to the precision of formatBytes. */
export function roundBytes(bytes: number, rounding: Rounding): number {
  const whole = Math.min(Math.max(0, Math.floor(bytes)), MAX_BYTES);
  const step = 10 ** Math.max(0, String(whole).length - MAX_DIGITS);
  const rest = whole % step;
  return whole - rest + (rest > 0 && rounding === 'up' ? step : 0);
}

/** Matches the output of formatBytes, for a regular expression. */
export const bytePattern = String.raw`\d{1,4}(?:\.\d{1,3})? (?:B|[kMGTP]B)`;

/** Parses a text that matches bytePattern. */
export function parseBytes(text: string): number {
  const [amount = '', unit = ''] = text.split(' ');
  const [whole = '', fraction = ''] = amount.split('.');
  // Shifts digits: a floating-point product is off by one byte for the largest numbers.
  return Number(whole + fraction.padEnd(3 * byteUnits.findIndex((each) => each === unit), '0'));
}
