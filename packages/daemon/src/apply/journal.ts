// The record of an update that is under way: what it is, written once before anything is touched, and a log of how far it
// is. Both are on the disk when a promise of this file resolves.
import { createHash, hash } from 'node:crypto';
import { decode, type Decoder, number, object, string, withFallback } from '@slipway/base/codec';
import type { Change, NodeAction } from '@slipway/fleet';
import { DaemonError } from '../errors.ts';
import { type FileSystem, ownOwners } from '../host/file-system.ts';
import type { Problem } from '../problem.ts';
import { UPDATE_DIRECTORY } from '../state-file.ts';
import type { StoredConfig } from '../stored-config.ts';
import type { Move, Put } from './moves.ts';
import type { UnitStep } from './steps.ts';

/** All that is needed to go on or back, also for a program that was upgraded meanwhile. */
export interface Journal {
  /** Without its Ignition config: the way back takes files from what is kept of them. */
  readonly from: StoredConfig;
  readonly to: StoredConfig;
  readonly changes: readonly Change[];
  readonly actions: readonly NodeAction[];
  readonly moves: readonly Move[];
  /** The new `currentconfig`: in place only when all the rest is. */
  readonly commit: Put;
  /** Directories that had to be made on the way, from the top down. */
  readonly madeDirectories: readonly string[];
  /** Files below orig and noorig that were made for this update; and those that have no use after it. */
  readonly madeOriginals: readonly string[];
  readonly endedOriginals: readonly string[];
  readonly units: readonly UnitStep[];
  /** The hash that the user core had, where the update changes it. Secret. */
  readonly oldPasswordHash: string | null;
  /** The deployment that the machine ran before, where the update changes the OS. */
  readonly oldOS: string | null;
}

export interface OpenJournal extends Journal {
  /** The version of the program that began the update. */
  readonly program: string;
  readonly records: readonly LogRecord[];
  write(record: LogRecord): Promise<void>;
}

const CONFIGS = `${UPDATE_DIRECTORY}/configs.json`;
const LOG = `${UPDATE_DIRECTORY}/log`;
const FORMAT = 1;

/** Two configs of at most 1.5 MB, as text in text, and the list of changes: far less. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Of its first line: names of objects, and a digest. */
const MAX_HEADER = 4096;

export async function createJournal(files: FileSystem, journal: Journal, programVersion: string): Promise<OpenJournal> {
  const configs = encodeJournal(journal, programVersion);
  await createSynced(files, CONFIGS, configs);
  await createSynced(files, LOG, new Uint8Array(LOG_BYTES));
  await files.syncDirectory(UPDATE_DIRECTORY);
  return open(files, journal, programVersion, new Uint8Array());
}

async function createSynced(files: FileSystem, path: string, bytes: Uint8Array): Promise<void> {
  await files.createFile(path, { ...ownOwners(), mode: 0o600, bytes });
  await files.syncFile(path);
}

export type OpenJournalResult =
  | { readonly found: 'nothing' }
  /** It was cut off before it said all that it was to say, and so before anything else was made. */
  | { readonly found: 'beginning' }
  | { readonly found: 'journal'; readonly journal: OpenJournal }
  /** `from` and `to` are '' where even that is not to be read. */
  | { readonly found: 'unusable'; readonly from: string; readonly to: string; readonly why: string };

/** Rejects with the error of the operating system where the disk cannot be read. */
export async function openJournal(files: FileSystem): Promise<OpenJournalResult> {
  if ((await files.lookAt(UPDATE_DIRECTORY)) === null) return { found: 'nothing' };
  const log = await readOr(files, LOG, LOG_BYTES);
  const begun = decodeLog(log).records.length > 0;
  const decoded = decodeJournal(await readOr(files, CONFIGS, MAX_BYTES));
  if (decoded.ok) return { found: 'journal', journal: open(files, decoded.journal, decoded.program, log) };
  if (!begun && decoded.damaged) return { found: 'beginning' };
  return { found: 'unusable', ...decoded };
}

async function readOr(files: FileSystem, path: string, limit: number): Promise<Uint8Array> {
  return (await files.lookAt(path)) === null ? new Uint8Array() : files.read(path, limit);
}

function open(files: FileSystem, journal: Journal, program: string, log: Uint8Array): OpenJournal {
  const decoded = decodeLog(log);
  const records = [...decoded.records];
  let { end } = decoded;
  return {
    ...journal,
    program,
    records,
    async write(record) {
      const bytes = encodeRecord(record, records.length);
      if (end + bytes.length > LOG_BYTES) throw new DaemonError('SLW_DAEMON_JOURNAL', `${LOG} is full. ${LEFT_ALONE}`);
      await files.overwrite(LOG, end, bytes);
      await files.syncFile(LOG);
      records.push(record);
      end += bytes.length;
    },
  };
}

interface Header {
  readonly format: number;
  /** The program that wrote it. */
  readonly program: string;
  readonly from: string;
  readonly to: string;
  /** Of all after the first line. */
  readonly sha256: string;
}

/** A line that programs of all versions can read, then what only those that know the format can. */
export function encodeJournal(journal: Journal, program: string): Uint8Array {
  const body = JSON.stringify(journal);
  const header: Header = {
    format: FORMAT,
    program,
    from: journal.from.name,
    to: journal.to.name,
    sha256: hash('sha256', body),
  };
  const line = `${JSON.stringify(header)}\n`;
  // The body is some megabytes at most: it is written where it stays, not joined from copies.
  const bytes = Buffer.alloc(Buffer.byteLength(line) + Buffer.byteLength(body));
  bytes.write(body, bytes.write(line));
  return bytes;
}

export type DecodedJournal =
  | { readonly ok: true; readonly program: string; readonly journal: Journal }
  | {
      readonly ok: false;
      /** Not whole, in difference to one of another program. */
      readonly damaged: boolean;
      readonly from: string;
      readonly to: string;
      readonly why: string;
    };

export function decodeJournal(bytes: Uint8Array): DecodedJournal {
  const end = bytes.indexOf(NEWLINE);
  const header = decode(headerDecoder, textIn(bytes.subarray(0, Math.max(0, end))), { maxChars: MAX_HEADER });
  if (!header.ok) return { ok: false, damaged: true, from: '', to: '', why: damaged('its first line') };
  const { format, program, from, to, sha256 } = header.value;
  if (format !== FORMAT) {
    const why = `${CONFIGS} was written by version ${program} of the program in format ${format}; this one knows format ${FORMAT}. Let that version, or a newer one, end the update. ${LEFT_ALONE}`;
    return { ok: false, damaged: false, from, to, why };
  }
  const body = bytes.subarray(end + 1);
  if (hash('sha256', body) !== sha256) return { ok: false, damaged: true, from, to, why: damaged('its contents') };
  return { ok: true, program, journal: JSON.parse(textIn(body)) as Journal };
}

const NEWLINE = 10;
const textIn = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const LEFT_ALONE = 'The machine is left as it is';

const damaged = (part: string): string =>
  `${CONFIGS}: expected ${part} as the daemon wrote them, found other bytes (the checksum differs), so how the machine was before is not known. ${LEFT_ALONE}: install it anew`;

const nameOrNone = withFallback(string(), '');
const headerDecoder: Decoder<Header> = object({
  format: number(),
  sha256: string(),
  program: nameOrNone,
  from: nameOrNone,
  to: nameOrNone,
});

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

/**
 * One line of JSON with a checksum, in sectors of its own, so that a write that the power cuts off damages no record but its
 * own.
 */
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
