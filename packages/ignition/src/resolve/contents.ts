// The contents of a reference as a machine reads them: unpacked, and verified by their hash.
import { gunzip, type GunzipLimits } from '../compression.ts';
import { decodeDataUrl } from '../data-url.ts';
import type { ResolveCode } from '../errors.ts';
import { joinKey, type Report, show } from '../report.ts';
import type { AnyConfig } from '../spec/index.ts';
import { hashProblem } from './hash.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { listSlots, type Reference, type Slot } from './slots.ts';

export type Contents =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | {
      readonly ok: false;
      readonly code: ResolveCode;
      /** The field of the reference that is wrong. */
      readonly field: 'compression' | 'verification.hash';
      readonly problem: string;
      /** The bytes that were unpacked. */
      readonly size: number;
    };

/** `raw`: as in the data URL, or as fetched. As for Ignition, the hash is that of the unpacked contents. */
export async function readContents(reference: Reference, raw: Uint8Array, limits: GunzipLimits): Promise<Contents> {
  const unpacked = await unpack(reference.compression ?? '', raw, limits);
  const { hash } = reference.verification ?? {};
  if (!unpacked.ok || hash === undefined) return unpacked;
  const problem = await hashProblem(unpacked.bytes, hash);
  if (problem === null) return unpacked;
  const size = unpacked.bytes.byteLength;
  return { ok: false, code: 'SLW_RESOLVE_HASH', field: 'verification.hash', problem, size };
}

async function unpack(compression: string, raw: Uint8Array, limits: GunzipLimits): Promise<Contents> {
  if (compression === '') return { ok: true, bytes: raw };
  const field = 'compression';
  if (compression !== 'gzip') {
    const problem = `the compression ${show(compression)} is not supported: use "gzip", or "" for none`;
    return { ok: false, code: 'SLW_RESOLVE_GZIP', field, problem, size: 0 };
  }
  const unpacked = await gunzip(raw, limits);
  if (unpacked.ok) return unpacked;
  const code = unpacked.reason === 'malformed' ? 'SLW_RESOLVE_GZIP' : 'SLW_RESOLVE_LIMIT';
  const problem = `compression is gzip, but ${unpacked.problem}. Compress the contents with gzip, or remove compression`;
  return { ok: false, code, field, problem, size: unpacked.size };
}

/** Of all unpacked contents of a config together. */
const MAX_BYTES = DEFAULT_LIMITS.totalBytes;
const TOO_LARGE = `with these contents, those of the config unpack to more than ${MAX_BYTES / 1024 / 1024} MiB`;

/**
 * Contents in data URLs that no machine can take: Ignition would fail at the first boot. `validate` does not decode
 * them, like the validator of Ignition. `isChecked` limits the work to some contents, by their path.
 */
export async function checkContents(
  config: AnyConfig,
  isChecked: (path: string) => boolean = () => true,
): Promise<Report> {
  const report: Report = [];
  let total = 0;
  // One at a time: unpacked, they are far larger than the config.
  for (const slot of listSlots(config, isEncoded)) {
    if (slot.reference.source?.startsWith('data:') !== true || !isChecked(slot.path)) continue;
    const { size, field, problem } = await checkSlot(slot);
    total += size;
    const isTooLarge = total > MAX_BYTES;
    const message = problem ?? (isTooLarge ? TOO_LARGE : null);
    if (message !== null) report.push({ kind: 'error', path: joinPath(slot.path, field), message });
    // Also if all of them are wrong: a thousand small bombs fit into one config.
    if (isTooLarge) break;
  }
  return report;
}

const isEncoded = ({ compression = '', verification }: Reference): boolean =>
  compression !== '' || verification?.hash !== undefined;

interface CheckedSlot {
  /** The bytes that were unpacked. */
  readonly size: number;
  readonly field: string;
  readonly problem: string | null;
}

async function checkSlot({ reference, holds }: Slot): Promise<CheckedSlot> {
  const field = 'source';
  const decoded = decodeDataUrl(reference.source ?? '');
  if (!decoded.ok) return { size: 0, field, problem: `the data URL cannot be decoded: ${decoded.problem}` };
  const contents = await readContents(reference, decoded.bytes, { maxBytes: MAX_BYTES });
  if (!contents.ok) return contents;
  const problem = holds === 'authority' ? authorityProblem(contents.bytes) : null;
  return { size: contents.bytes.byteLength, field, problem };
}

const joinPath = (path: string, field: string): string => field.split('.').reduce(joinKey, path);

/**
 * Why Ignition cannot use these bytes as certificate authorities, or null. It reads one PEM block after the other, with
 * any label (such as TRUSTED CERTIFICATE) and with headers, and ignores text before a block, but not after the last one.
 */
export function authorityProblem(bytes: Uint8Array): string | null {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const beginLine = /^-----BEGIN ([\w ]{1,40})-----[ \t\r]*$/gm;
  for (let count = 1; beginLine.lastIndex < text.length; count += 1) {
    const begin = beginLine.exec(text);
    if (begin === null) {
      return count === 1
        ? 'it contains no PEM certificate: expected a line -----BEGIN CERTIFICATE-----'
        : `something follows certificate ${count - 1}, the last one: remove it, also empty lines`;
    }
    const [, label = ''] = begin;
    if (!label.endsWith('CERTIFICATE')) return 'it contains a PEM block that is no certificate: remove it';
    const endLine = `-----END ${label}-----`;
    const end = text.indexOf(`\n${endLine}`, beginLine.lastIndex);
    if (end < 0) return `certificate ${count} needs a line ${endLine} at its end`;
    if (!isCertificate(text.slice(beginLine.lastIndex, end))) return `certificate ${count} cannot be read`;
    const next = text.indexOf('\n', end + 1);
    beginLine.lastIndex = next < 0 ? text.length : next + 1;
  }
  return null;
}

/** Whether this is base64 of one DER sequence that starts with another one. Ignition parses all of it. */
function isCertificate(body: string): boolean {
  try {
    const der = Uint8Array.fromBase64(body.replaceAll(PEM_HEADER, ''));
    const outer = readLength(der);
    return outer !== null && outer.start + outer.length === der.length && der[outer.start] === SEQUENCE;
  } catch {
    return false;
  }
}

const PEM_HEADER = /^.*:.*$/gm;
const SEQUENCE = 0x30;
const LONG_LENGTH = 0x80;

/** The length of a DER sequence, and where it starts. A certificate has less than 2^24 bytes. */
function readLength(der: Uint8Array): { start: number; length: number } | null {
  const [tag, first = 0] = der;
  if (tag !== SEQUENCE) return null;
  if (first < LONG_LENGTH) return { start: 2, length: first };
  const count = first - LONG_LENGTH;
  const digits = der.subarray(2, 2 + count);
  return count > 3 ? null : { start: 2 + count, length: digits.reduce((sum, byte) => sum * 256 + byte, 0) };
}
