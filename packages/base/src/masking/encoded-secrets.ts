// Secrets inside base64 and data URLs, also compressed: a kubeconfig in a Secret, a key without its PEM header, an env
// file in a source.
import { constants, gunzipSync } from 'node:zlib';
import { HIDDEN } from './secret-names.ts';

const MIN_BASE64 = 24;
/** What is longer is hidden if its start has a secret. */
const MAX_DECODED_CHARS = 256 * 1024;
const BASE64 = /(?:(?<=\\[nrt])|(?<![\w+/\\-]))[A-Za-z0-9+/_-]{24,}={0,2}(?![\w+/-])/g;
const DATA_URL = /(data:[\w.;=+/-]{0,200},)([^\s"'<>]+)/g;

/** `hasSecret` is asked about decoded text. */
export function maskEncoded(line: string, hasSecret: (text: string) => boolean): string {
  let masked = line;
  if (masked.includes('data:')) {
    masked = masked.replaceAll(DATA_URL, (whole: string, start: string, data: string) => {
      const decoded = decodePercent(data);
      const isSecret = start.endsWith(';base64,') ? isEncodedSecret(decoded, hasSecret) : hasSecret(decoded);
      return isSecret ? start + HIDDEN : whole;
    });
  }
  if (masked.length < MIN_BASE64) return masked;
  return masked.replaceAll(BASE64, (run: string) => (isEncodedSecret(run, hasSecret) ? HIDDEN : run));
}

const WRAPPED_LINE = /^[+\-\s#]{0,66}([A-Za-z0-9+/]{40,}={0,2})\s{0,8}$/;

/** Base64 that is wrapped into lines of one length, of which the last may be shorter: indices of lines with a secret. */
export function findWrappedSecrets(lines: readonly string[], hasSecret: (text: string) => boolean): number[] {
  const found: number[] = [];
  let group: { readonly index: number; readonly text: string }[] = [];
  const end = () => {
    if (group.length > 1 && isEncodedSecret(group.map(({ text }) => text).join(''), hasSecret)) {
      found.push(...group.map(({ index }) => index));
    }
    group = [];
  };
  for (const [index, line] of lines.entries()) {
    const width = group[0]?.text.length ?? 0;
    const text = WRAPPED_LINE.exec(line)?.[1] ?? (width > 0 ? SHORT_LINE.exec(line)?.[1] : undefined);
    if (text === undefined || text.length > width) end();
    if (text !== undefined) group.push({ index, text });
    if (text !== undefined && text.length < width) end();
  }
  end();
  return found;
}

const SHORT_LINE = /^[+\-\s#]{0,66}([A-Za-z0-9+/]{1,40}={0,2})\s{0,8}$/;

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isEncodedSecret(run: string, hasSecret: (text: string) => boolean): boolean {
  const bytes = Buffer.from(run.slice(0, MAX_DECODED_CHARS), 'base64');
  const plain = isGzip(bytes) ? unpack(bytes) : bytes;
  if (plain === 'too large' || isPrivateKey(plain)) return true;
  const text = toText(plain);
  return text !== null && hasSecret(text);
}

const isGzip = ([first, second]: Uint8Array): boolean => first === 0x1f && second === 0x8b;

/** Configurations become 3 to 5 times smaller. Unpacking more would take a hostile text too long. */
const MAX_RATIO = 8;

/** What is cut is unpacked up to there, and what is not gzip is empty. */
function unpack(bytes: Uint8Array): Uint8Array | 'too large' {
  const options = { maxOutputLength: bytes.length * MAX_RATIO, finishFlush: constants.Z_SYNC_FLUSH };
  try {
    return gunzipSync(bytes, options);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
      ? 'too large'
      : new Uint8Array();
  }
}

const OPENSSH = 'openssh-key-v1';

/**
 * DER: a sequence that starts with a small version number is a private key (PKCS#1, PKCS#8, SEC 1) or a key store
 * (PKCS#12). Certificates, requests and public keys start with another sequence or a large number.
 */
function isPrivateKey(bytes: Uint8Array): boolean {
  if (bytes.length < 32) return false;
  if (Buffer.from(bytes.subarray(0, OPENSSH.length)).toString('latin1') === OPENSSH) return true;
  if (bytes[0] !== 0x30) return false;
  const lengthBytes = bytes[1] ?? 0;
  const at = lengthBytes < 0x80 ? 2 : 2 + (lengthBytes & 0x7f);
  return bytes[at] === 0x02 && bytes[at + 1] === 0x01 && (bytes[at + 2] ?? 0xff) <= 3;
}

/** Null if the bytes are not text. */
function toText(bytes: Uint8Array): string | null {
  const sample = bytes.subarray(0, 64);
  if (sample.some((byte) => byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d)) return null;
  try {
    // The last character may be cut.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return null;
  }
}
