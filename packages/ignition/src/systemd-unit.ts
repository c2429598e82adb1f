// Unit files as the Go client reads them (go-systemd): it refuses a config whose units it cannot lex, and looks for an
// [Install] section. What it takes and refuses hangs on details of how it reads, lines that are too long among them.

export type UnitReading =
  | { readonly ok: true; /** Sections that have an option. */ readonly sections: ReadonlySet<string> }
  | { readonly ok: false; readonly problem: string };

/** The client gives up on a line of this length, but notices only as far as it has read ahead. */
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

// All that Unicode calls white space; JavaScript's \s also has U+FEFF, and lacks U+0085.
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
  /** How far the client has read ahead. */
  #ahead = 0;
  /** Where the next newline and carriage return stand: looked for again only when passed. */
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

  /** Before the first section anything may stand, and is skipped. */
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
    return this.#fail('there is text after a section name, on the same line');
  }

  #readComment(): State {
    while (this.#continuesComment()) continue;
    return this.#section === null ? 'section' : 'sectionOrOption';
  }

  /** A comment goes on when its line ends with a backslash, even with one space behind it. */
  #continuesComment(): boolean {
    const [start, lineEnd] = this.#readLine();
    const end = lineEnd > start && this.#bytes[lineEnd - 1] === SPACE ? lineEnd - 1 : lineEnd;
    return end > start && this.#bytes[end - 1] === BACKSLASH;
  }

  #readName(): State {
    for (let byte = this.#nextByte(); byte !== undefined; byte = this.#nextByte()) {
      if (byte === EQUALS) return 'value';
      if (byte === NEWLINE || byte === RETURN) return this.#fail('a line is no comment, no section and has no "="');
    }
    return this.#fail('the last line is no comment, no section and has no "="');
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

  /** The next line, without its newline; the place is after it. */
  #readLine(): [number, number] {
    const start = this.#at;
    const newline = this.#bytes.indexOf(NEWLINE, start);
    this.#moveTo(newline < 0 ? this.#bytes.length : newline + 1);
    if (newline >= 0) return [start, newline];
    const last = this.#bytes.length;
    return [start, last > start && this.#bytes[last - 1] === RETURN ? last - 1 : last];
  }

  /** First byte of the next character; the place moves past the whole character. */
  #nextByte(): number | undefined {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) return undefined;
    const end = this.#at + getCharacterLength(byte);
    if (end > this.#ahead) this.#readAheadFrom(this.#at);
    this.#at = end;
    return byte;
  }

  /** Reads on to a place behind a delimiter: while that is not in what was read ahead, more is. */
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

  /** Most of what is looked at is ASCII, and then no text need be made of it. */
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
