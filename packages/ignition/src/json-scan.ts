// Finds what JSON.parse does not report: duplicate keys in one object, how a number was written, and how deep the text
// nests. Runs before JSON.parse, so it must be fast on any text, JSON or not; its results are meaningful only if
// JSON.parse then accepts the text.
import { formatPath } from './report.ts';

export interface JsonScan {
  /** Nesting exceeded the limit; the scan stopped there. */
  readonly tooDeep: boolean;
  /** The number of values exceeded the limit; the scan stopped there. */
  readonly tooMany: boolean;
  /** Paths of duplicate keys. */
  readonly duplicates: readonly string[];
  /** Positions of numbers in integer fields that are not written as an integer: 420.0, 1e3. */
  readonly notIntegers: readonly { readonly start: number; readonly end: number }[];
}

const MAX_LISTED = 100;
/** Paths are shortened to this length: hostile text nests thousands deep. */
const MAX_PATH = 32;

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

interface Frame {
  /** Keys seen so far; null for a list. */
  readonly keys: string[] | Set<string> | null;
  readonly index: number;
  readonly key: string;
  readonly expectsKey: boolean;
}

type OpenFrame = { -readonly [N in keyof Frame]: Frame[N] };

/** Fields whose numbers matter: all others are not numbers in the spec, or not part of it. */
export interface IntegerFields {
  readonly names: ReadonlySet<string>;
  /** Depth of the deepest of them. */
  readonly depth: number;
}

const NO_FIELDS: IntegerFields = { names: new Set(), depth: 0 };

export interface ScanLimits {
  /** Nesting of objects and lists. */
  readonly depth: number;
  /** Objects, lists and their members. */
  readonly values: number;
}

export function scanJson(text: string, limits: ScanLimits, integers: IntegerFields = NO_FIELDS): JsonScan {
  const scanner = new Scanner(text, limits, integers);
  scanner.run();
  return scanner;
}

/**
 * The JSON with every number in question replaced by a list of one string: readers do not accept that as an integer,
 * and it preserves how the number was written. The text must be valid JSON.
 */
export function markNotIntegers(text: string, { notIntegers }: JsonScan): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of notIntegers) {
    parts.push(text.slice(at, start), '["', text.slice(start, end), '"]');
    at = end;
  }
  parts.push(text.slice(at));
  return parts.join('');
}

class Scanner implements JsonScan {
  tooDeep = false;
  tooMany = false;
  readonly duplicates: string[] = [];
  readonly notIntegers: { start: number; end: number }[] = [];
  readonly #frames: OpenFrame[] = [];
  readonly #text: string;
  readonly #limits: ScanLimits;
  #values = 0;
  readonly #integers: IntegerFields;

  constructor(text: string, limits: ScanLimits, integers: IntegerFields) {
    this.#text = text;
    this.#limits = limits;
    this.#integers = integers;
  }

  run(): void {
    const text = this.#text;
    let at = 0;
    while (at < text.length && !this.tooDeep && !this.tooMany) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) at = this.#string(at);
      else if (code === MINUS || (code >= ZERO && code <= NINE)) at = this.#number(at);
      else {
        if (code >= COMMA) this.#punctuation(code);
        at += 1;
      }
    }
  }

  #punctuation(code: number): void {
    switch (code) {
      case COMMA: {
        this.#count();
        const frame = this.#frames.at(-1);
        if (frame === undefined) return;
        frame.index += 1;
        frame.expectsKey = frame.keys !== null;
        return;
      }
      case OPEN_OBJECT:
        return this.#open({ keys: [], index: 0, key: '', expectsKey: true });
      case OPEN_LIST:
        return this.#open({ keys: null, index: 0, key: '', expectsKey: false });
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        this.#frames.pop();
        return;
      default:
    }
  }

  #open(frame: OpenFrame): void {
    this.#count();
    this.#frames.push(frame);
    this.tooDeep = this.#frames.length > this.#limits.depth;
  }

  /** A comma precedes every value but the first; objects and lists count too: accurate enough for a bound. */
  #count(): void {
    this.#values += 1;
    this.tooMany = this.#values > this.#limits.values;
  }

  #string(start: number): number {
    const end = findStringEnd(this.#text, start);
    const frame = this.#frames.at(-1);
    if (frame?.expectsKey === true) {
      frame.expectsKey = false;
      frame.key = decodeKey(this.#text.slice(start + 1, end));
      if (!addKey(frame, frame.key) && this.duplicates.length < MAX_LISTED) this.duplicates.push(this.#path());
    }
    return end + 1;
  }

  #number(start: number): number {
    const text = this.#text;
    let end = start + 1;
    let plain = true;
    for (; end < text.length; end += 1) {
      const code = text.charCodeAt(end);
      if (code >= ZERO && code <= NINE) continue;
      if (!isNumberPart(code)) break;
      plain = false;
    }
    if (!plain && this.#matters()) this.notIntegers.push({ start, end });
    return end;
  }

  /** Whether the value at this position belongs to an integer field. */
  #matters(): boolean {
    const frame = this.#frames.at(-1);
    if (frame === undefined || frame.keys === null) return false;
    return this.#frames.length <= this.#integers.depth && this.#integers.names.has(frame.key);
  }

  #path(): string {
    const told = this.#frames.slice(0, MAX_PATH);
    const path = formatPath(told.map((frame) => (frame.keys === null ? frame.index : frame.key)));
    return told.length < this.#frames.length ? `${path}…` : path;
  }
}

/** `.`, `e`, `E`, `+`, `-` inside a number. */
function isNumberPart(code: number): boolean {
  return code === 0x2e || code === 0x65 || code === 0x45 || code === 0x2b || code === MINUS;
}

function findStringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(text, start, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, start: number, end: number): boolean {
  let before = end - 1;
  while (before > start && text.charCodeAt(before) === BACKSLASH) before -= 1;
  return (end - 1 - before) % 2 === 1;
}

function decodeKey(raw: string): string {
  if (!raw.includes('\\')) return raw;
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return raw;
  }
}

const FEW_KEYS = 12;

/** False if the key is already there. A plain list is fastest for few keys; a large (hostile) object gets a set. */
function addKey(frame: OpenFrame, key: string): boolean {
  const keys = frame.keys;
  if (keys instanceof Set) {
    if (keys.has(key)) return false;
    keys.add(key);
    return true;
  }
  if (keys === null || keys.includes(key)) return keys === null;
  keys.push(key);
  if (keys.length > FEW_KEYS) frame.keys = new Set(keys);
  return true;
}
