// Parses unit files like the Go client (go-systemd): it refuses a config whose units it cannot lex, and searches for an
// [Install] section. The verdict depends on details of its reader, such as lines that are too long.

export type UnitReading =
  | { readonly ok: true; /** Sections that have an option. */ readonly sections: ReadonlySet<string> }
  | { readonly ok: false; readonly problem: string };

/** The client fails on a line of this length, but notices only within its read-ahead. */
const LINE_MAX = 2048;
const READ_AHEAD = 4096;

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const HASH = 0x23;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const OPEN = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE = 0x5d;

// All Unicode white space; JavaScript's \s also includes U+FEFF, and lacks U+0085.
const BLANK = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export function readUnit(contents: string): UnitReading {
  return new UnitReader(encoder.encode(contents)).read();
}

type State = 'section' | 'sectionOrOption' | 'sectionName' | 'afterSection' | 'comment' | 'name' | 'value' | 'end';

class UnitReader {
  readonly #bytes: Uint8Array;
  readonly #sections = new Set<string>();
  #at = 0;
  /** The end of the client's read-ahead. */
  #ahead = 0;
  /** Positions of the next newline and carriage return: searched again only when passed. */
  #newline = -1;
  #return = -1;
  #section: string | null = null;
  #problem: string | null = null;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  read(): UnitReading {
    let state: State = 'section';
    while (state !== 'end') {
      if (this.#lineTooLong()) return { ok: false, problem: `a line is longer than ${LINE_MAX} bytes` };
      state = this.#step(state);
      if (this.#problem !== null) return { ok: false, problem: this.#problem };
    }
    return { ok: true, sections: this.#sections };
  }

  #step(state: State): State {
    switch (state) {
      case 'section':
        return this.#readSection();
      case 'sectionOrOption':
        return this.#readSectionOrOption();
      case 'sectionName':
        return this.#readSectionName();
      case 'afterSection':
        return this.#readAfterSection();
      case 'comment':
        return this.#readComment();
      case 'name':
        return this.#readName();
      default:
        return this.#readValue();
    }
  }

  #lineTooLong(): boolean {
    if (this.#ahead - this.#at < LINE_MAX) return false;
    if (this.#newline < this.#at) this.#newline = this.#find(NEWLINE);
    if (this.#return < this.#at) this.#return = this.#find(RETURN);
    return Math.min(this.#newline, this.#return) >= this.#at + LINE_MAX;
  }

  #find(byte: number): number {
    const place = this.#bytes.indexOf(byte, this.#at);
    return place < 0 ? Infinity : place;
  }

  /** Anything is allowed before the first section, and skipped. */
  #readSection(): State {
    const byte = this.#nextByte();
    if (byte === undefined) return 'end';
    if (byte === OPEN) return 'sectionName';
    return byte === HASH || byte === SEMICOLON ? 'comment' : 'section';
  }

  #readSectionOrOption(): State {
    const start = this.#at;
    const byte = this.#nextByte();
    if (byte === undefined) return 'end';
    if (byte === OPEN) return 'sectionName';
    if (byte === HASH || byte === SEMICOLON) return 'comment';
    if (this.#isBlank(start, this.#at)) return 'sectionOrOption';
    this.#at = start;
    return 'name';
  }

  #readSectionName(): State {
    const start = this.#at;
    const end = this.#bytes.indexOf(CLOSE, start);
    if (end < 0) return this.#fail('a section name has no "]"');
    this.#moveTo(end + 1);
    this.#section = this.#text(start, end);
    return 'afterSection';
  }

  #readAfterSection(): State {
    const [start, end] = this.#readLine();
    if (this.#isBlank(start, end)) return 'sectionOrOption';
    return this.#fail('a section name is followed by text on the same line');
  }

  #readComment(): State {
    while (this.#continuesComment()) continue;
    return this.#section === null ? 'section' : 'sectionOrOption';
  }

  /** A comment continues if its line ends with a backslash, even with one space after it. */
  #continuesComment(): boolean {
    const [start, lineEnd] = this.#readLine();
    const end = lineEnd > start && this.#bytes[lineEnd - 1] === SPACE ? lineEnd - 1 : lineEnd;
    return end > start && this.#bytes[end - 1] === BACKSLASH;
  }

  #readName(): State {
    for (let byte = this.#nextByte(); byte !== undefined; byte = this.#nextByte()) {
      if (byte === EQUALS) return 'value';
      if (byte === NEWLINE || byte === RETURN)
        return this.#fail('a line has no "=": expected NAME=VALUE, a [Section] or a comment');
    }
    return this.#fail('the last line has no "=": expected NAME=VALUE, a [Section] or a comment');
  }

  #readValue(): State {
    const [start, end] = this.#readLine();
    const continues = end > start && this.#bytes[end - 1] === BACKSLASH;
    if (continues) return 'value';
    if (this.#section !== null) this.#sections.add(this.#section);
    return 'sectionOrOption';
  }

  #fail(problem: string): State {
    this.#problem = problem;
    return 'end';
  }

  /** Returns the next line without its newline and moves past it. */
  #readLine(): [number, number] {
    const start = this.#at;
    const newline = this.#bytes.indexOf(NEWLINE, start);
    this.#moveTo(newline < 0 ? this.#bytes.length : newline + 1);
    if (newline >= 0) return [start, newline];
    const last = this.#bytes.length;
    return [start, last > start && this.#bytes[last - 1] === RETURN ? last - 1 : last];
  }

  /** Returns the first byte of the next character and moves past the whole character. */
  #nextByte(): number | undefined {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) return undefined;
    const end = this.#at + getCharacterLength(byte);
    if (end > this.#ahead) this.#readAheadFrom(this.#at);
    this.#at = end;
    return byte;
  }

  /** Advances past a delimiter, extending the read-ahead until it covers that position. */
  #moveTo(place: number): void {
    let from = this.#at;
    while (this.#ahead < place) {
      if (this.#ahead - from >= READ_AHEAD) from = this.#ahead;
      this.#readAheadFrom(from);
    }
    this.#at = place;
  }

  #readAheadFrom(place: number): void {
    this.#ahead = Math.min(place + READ_AHEAD, this.#bytes.length);
  }

  #text(start: number, end: number): string {
    return decoder.decode(this.#bytes.subarray(start, end));
  }

  /** Most input is ASCII, which needs no conversion to a string. */
  #isBlank(start: number, end: number): boolean {
    for (let at = start; at < end; at += 1) {
      const byte = this.#bytes[at] ?? 0;
      if (byte >= 0x80) return BLANK.test(this.#text(start, end));
      if (byte !== SPACE && (byte < TAB || byte > RETURN)) return false;
    }
    return true;
  }
}

function getCharacterLength(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}
