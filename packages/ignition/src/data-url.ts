// Data URLs, parsed exactly as by the Go library that Ignition uses (github.com/vincent-petithory/dataurl v1.0.0),
// quirks included: both must accept and refuse the same URLs. The WHATWG rules are more lenient.

/** The part of a data URL before its comma that determines how the contents are decoded. */
interface Head {
  /** Index of the first character after the comma. */
  dataAt: number;
  base64: boolean;
}

export type DecodedDataUrl = { ok: true; bytes: Uint8Array } | { ok: false; problem: string };

const PREFIX = 'data:';
const BASE64_HEAD = 'data:;base64,';
const PLAIN_HEAD = 'data:,';

// Printable ASCII without space and RFC 2045 tspecials.
const TOKEN_END = /[^!#$%&'*+.0-9A-Z^_`a-z{|}~-]/g;
const MEDIA_TYPE = /^(?:text|image|audio|video|application|message|multipart|[xX]-)/;
// The first character, or the first broken escape, that is not allowed in plain data.
const BAD_PLAIN_DATA = /[^!$-;=?-Z_a-z~]|%(?![0-9A-Fa-f]{2})/;
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
const BAD_BASE64_CHARACTER = /[^A-Za-z0-9+/=\n]/;
// What Go's strconv.Unquote accepts after a backslash in a double-quoted string. Surrogates are not characters.
const GOOD_QUOTED_ESCAPE =
  /\\(?:[abfnrtv\\"]|x[0-9A-Fa-f]{2}|[0-3][0-7]{2}|u(?![dD][89A-Fa-f])[0-9A-Fa-f]{4}|U(?:0000(?![dD][89A-Fa-f])|000[1-9A-Fa-f]|0010)[0-9A-Fa-f]{4})/g;
const BAD_QUOTED_REST = /[\n\\]/;

/** Decodes the contents of a data URL. Refuses what Ignition's validator refuses. */
export function decodeDataUrl(source: string): DecodedDataUrl {
  const head = readHead(source);
  if (typeof head === 'string') return { ok: false, problem: head };
  const data = source.slice(head.dataAt);
  const problem = dataProblem(data, head.base64);
  if (problem !== null) return { ok: false, problem };
  return { ok: true, bytes: head.base64 ? Uint8Array.fromBase64(data) : unescapeData(data) };
}

/** Why Ignition would refuse this data URL, or null. Does not build the contents, so use this one for validation. */
export function dataUrlProblem(source: string): string | null {
  const head = readHead(source);
  if (typeof head === 'string') return head;
  return dataProblem(source.slice(head.dataAt), head.base64);
}

/** Encodes bytes as a data URL in the shorter of the two forms. Equal bytes always return the same URL. */
export function encodeDataUrl(bytes: Uint8Array): string {
  const base64Length = BASE64_HEAD.length + Math.ceil(bytes.length / 3) * 4;
  let plainLength = PLAIN_HEAD.length + bytes.length;
  for (let i = 0; i < bytes.length && plainLength <= base64Length; i++) {
    if (PLAIN_BYTE[bytes[i] as number] === 0) plainLength += 2;
  }
  return plainLength <= base64Length ? PLAIN_HEAD + escapeData(bytes) : BASE64_HEAD + bytes.toBase64();
}

/** 1 for a byte that Go accepts unescaped in plain data. `%` must always be escaped. */
const PLAIN_BYTE = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte !== 0x25 && byte < 0x80 && !BAD_PLAIN_DATA.test(String.fromCharCode(byte)) ? 1 : 0,
);
const ESCAPED_BYTE = Array.from({ length: 256 }, (_, byte) =>
  PLAIN_BYTE[byte] === 1 ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
);

function escapeData(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += ESCAPED_BYTE[byte] as string;
  return text;
}

function unescapeData(data: string): Uint8Array {
  const bytes = new Uint8Array(data.length);
  let length = 0;
  for (let i = 0; i < data.length; i++) {
    const code = data.charCodeAt(i);
    if (code === 0x25) {
      bytes[length++] = Number.parseInt(data.slice(i + 1, i + 3), 16);
      i += 2;
    } else {
      bytes[length++] = code;
    }
  }
  return bytes.slice(0, length);
}

function dataProblem(data: string, base64: boolean): string | null {
  if (base64) return base64Problem(data);
  const at = data.search(BAD_PLAIN_DATA);
  if (at < 0) return null;
  return data[at] === '%'
    ? 'a "%" in its data is not followed by two hex digits: write %25 for the character itself'
    : `the character ${quote(data, at)} in its data must be percent-encoded`;
}

// The engine's decoder is several times faster than any search here, and nearly all data is correct.
const scratch = new Uint8Array(48 * 1024);
const CHUNK = (scratch.length / 3) * 4;

/** Whether this is base64 in one piece, with padding only at its end. If not, the reason is still to be found. */
function isPlainBase64(data: string): boolean {
  const padding = data.endsWith('==') ? 2 : Number(data.endsWith('='));
  try {
    let written = 0;
    for (let at = 0; at < data.length; at += CHUNK) {
      if (written !== (at / 4) * 3) return false;
      written += scratch.setFromBase64(data.slice(at, at + CHUNK), { lastChunkHandling: 'strict' }).written;
    }
    return written === (data.length / 4) * 3 - padding;
  } catch {
    return false;
  }
}

function base64Problem(data: string): string | null {
  if (isPlainBase64(data)) return null;
  const bad = data.search(BAD_BASE64_CHARACTER);
  if (bad >= 0) return `the character ${quote(data, bad)} in its data is not base64. Encode the data again`;
  const digits = data.includes('\n') ? data.replaceAll('\n', '') : data;
  if (digits.length % 4 !== 0)
    return `its base64 data has ${digits.length} characters; expected a multiple of 4 including "=" padding`;
  const padding = digits.indexOf('=');
  if (padding >= 0 && (padding < digits.length - 2 || !digits.endsWith('=')))
    return 'its base64 data has "=" before the end';
  return null;
}

function quote(text: string, at: number): string {
  return JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
}

/** Parses the part up to the comma, or returns its problem. The two most common forms take a fast path. */
function readHead(source: string): Head | string {
  if (source.startsWith(PLAIN_HEAD)) return { dataAt: PLAIN_HEAD.length, base64: false };
  if (source.startsWith(BASE64_HEAD)) return { dataAt: BASE64_HEAD.length, base64: true };
  if (!source.startsWith(PREFIX)) return 'it does not start with "data:"';
  const type = readMediaType(source, PREFIX.length);
  return typeof type === 'string' ? type : readParameters(source, type);
}

/** Index after the media type. */
function readMediaType(source: string, start: number): number | string {
  if (source[start] === ';' || source[start] === ',') return start;
  const slash = tokenEnd(source, start);
  if (slash === source.length) return 'it has no "," before its data: write data:,TEXT or data:;base64,DATA';
  if (source[slash] !== '/')
    return `the character ${quote(source, slash)} is not allowed in a media type: write data:,TEXT or data:;base64,DATA`;
  if (!MEDIA_TYPE.test(source.slice(start, slash)))
    return `its media type starts with ${JSON.stringify(source.slice(start, slash).slice(0, 40))}, expected one of text, image, audio, video, application, message, multipart or x-…`;
  return tokenEnd(source, slash + 1);
}

/** Parses everything from the `;` or `,` after the media type to the comma before the data. */
function readParameters(source: string, start: number): Head | string {
  let at = start;
  // The Go parser leaves this flag set after an empty quoted value, so that it reads the next value as quoted.
  let quoted = false;
  while (source[at] === ';') {
    const nameEnd = tokenEnd(source, at + 1);
    if (source[nameEnd] === ',') return readBase64(source.slice(at + 1, nameEnd), nameEnd + 1);
    if (nameEnd === at + 1 || source[nameEnd] !== '=') return parameterProblem(source, nameEnd);
    const value = readValue(source, nameEnd + 1);
    if (typeof value === 'string') return value;
    quoted ||= value.quoted;
    if (isBroken(value.text, quoted)) return 'a parameter value has an invalid escape';
    if (value.text !== '') quoted = false;
    at = value.next;
  }
  return source[at] === ',' ? { dataAt: at + 1, base64: false } : parameterProblem(source, at);
}

/** The last parameter, the only one that may have no value. */
function readBase64(name: string, dataAt: number): Head | string {
  if (name === 'base64') return { dataAt, base64: true };
  return `parameter ${JSON.stringify(name.slice(0, 40))} has no value (only "base64", as the last one, may have none)`;
}

interface Value {
  text: string;
  quoted: boolean;
  /** Index after the value. */
  next: number;
}

function readValue(source: string, start: number): Value | string {
  if (source[start] === '"') return readQuotedValue(source, start + 1);
  const next = tokenEnd(source, start);
  return next === start ? parameterProblem(source, next) : { text: source.slice(start, next), quoted: false, next };
}

function readQuotedValue(source: string, start: number): Value | string {
  for (let at = start; at < source.length; at++) {
    const code = source.charCodeAt(at);
    if (code > 0x7f) return parameterProblem(source, at);
    if (code === 0x22) return { text: source.slice(start, at), quoted: true, next: at + 1 };
    // An escaped character is never the closing quote, but it must still be ASCII.
    if (code === 0x5c && source.charCodeAt(++at) > 0x7f) return parameterProblem(source, at);
  }
  return 'a quoted parameter value is not closed';
}

function isBroken(value: string, quoted: boolean): boolean {
  return quoted ? BAD_QUOTED_REST.test(value.replace(GOOD_QUOTED_ESCAPE, '')) : BAD_ESCAPE.test(value);
}

function parameterProblem(source: string, at: number): string {
  if (at >= source.length) return 'it has no "," before its data: write data:,TEXT or data:;base64,DATA';
  return `the character ${quote(source, at)} is not allowed in the parameters before the ","`;
}

/** Index of the first character at or after `start` that is not a token character. */
function tokenEnd(source: string, start: number): number {
  TOKEN_END.lastIndex = start;
  const match = TOKEN_END.exec(source);
  return match === null ? source.length : match.index;
}
