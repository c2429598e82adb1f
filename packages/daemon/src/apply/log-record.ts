// What the log of an update says, and how it stands in its file: one line of JSON with a checksum for each record, each in
// sectors of its own, so that a write that the power cuts off damages no record but its own.
import { createHash } from 'node:crypto';
import type { Problem } from '../problem.ts';

export type LogRecord =
  /** All is staged; from here on the machine changes. The first try is 1. */
  | { readonly state: 'changing'; readonly attempt: number; readonly bootId: string }
  /** The disk is new; services are told. */
  | { readonly state: 'changed' }
  /** `staged`: the next boot is to bring another deployment of the OS. */
  | { readonly state: 'rebooting'; readonly bootId: string; readonly staged: boolean }
  /** It failed: the machine goes back. */
  | { readonly state: 'back'; readonly problem: Problem }
  /** The disk is old again. `mark`: the deployment of the OS that the machine then ran. */
  | { readonly state: 'rebooting back'; readonly bootId: string; readonly mark: string }
  | { readonly state: 'returned' }
  | { readonly state: 'done' };

export interface DecodedLog {
  readonly records: readonly LogRecord[];
  /** Where the next record belongs: what is there, if anything, is one that was not written to its end. */
  readonly end: number;
}

const SECTOR = 512;
const CHECKSUM_LENGTH = 16;

/** A disk that goes wrong again and again writes few records, and messages in them are cut: it never gets full. */
export const LOG_BYTES = 64 * 1024;

export function encodeRecord(record: LogRecord, index: number): Uint8Array {
  const text = JSON.stringify({ index, ...record });
  const line = new TextEncoder().encode(`${checksum(text)} ${text}\n`);
  const bytes = new Uint8Array(Math.ceil(line.length / SECTOR) * SECTOR);
  bytes.set(line);
  return bytes;
}

export function decodeLog(bytes: Uint8Array): DecodedLog {
  const records: LogRecord[] = [];
  let end = 0;
  while (end < bytes.length) {
    const length = bytes.subarray(end).indexOf(NEWLINE);
    const record = length < 0 ? null : decodeLine(bytes.subarray(end, end + length), records.length);
    if (record === null) break;
    records.push(record);
    end += Math.ceil((length + 1) / SECTOR) * SECTOR;
  }
  return { records, end };
}

const NEWLINE = 10;

/** Null: not written, or not to its end. */
function decodeLine(bytes: Uint8Array, index: number): LogRecord | null {
  const line = new TextDecoder().decode(bytes);
  const text = line.slice(CHECKSUM_LENGTH + 1);
  if (text === '' || line !== `${checksum(text)} ${text}`) return null;
  const { index: found, ...record } = JSON.parse(text) as LogRecord & { readonly index: number };
  return found === index ? record : null;
}

function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, CHECKSUM_LENGTH);
}
