// The journal of an update in progress: a description, written once before the machine is touched, and a log of its
// progress. When a promise of this file resolves, the data is on the disk.
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

/** Everything needed to continue or roll back, even by a newer version of the program. */
export interface Journal {
  /** Without its Ignition config: a rollback restores files from their backups. */
  readonly from: StoredConfig;
  readonly to: StoredConfig;
  readonly changes: readonly Change[];
  readonly actions: readonly NodeAction[];
  readonly moves: readonly Move[];
  /** The new `currentconfig`, moved into place last. */
  readonly commit: Put;
  /** Parent directories created for this update, top down. */
  readonly madeDirectories: readonly string[];
  /** Files below orig and noorig that this update created, and those it makes obsolete. */
  readonly madeOriginals: readonly string[];
  readonly endedOriginals: readonly string[];
  readonly units: readonly UnitStep[];
  /** The previous hash of the user core, if the update changes it. Secret. */
  readonly oldPasswordHash: string | null;
  /** The deployment that was booted before, if the update changes the OS. */
  readonly oldOS: string | null;
}

export interface OpenJournal extends Journal {
  /** The version of the program that started the update. */
  readonly program: string;
  readonly records: readonly LogRecord[];
  write(record: LogRecord): Promise<void>;
}

const CONFIGS = `${UPDATE_DIRECTORY}/configs.json`;
const LOG = `${UPDATE_DIRECTORY}/log`;
const FORMAT = 1;

/** Two configs of at most 1.5 MB, as JSON strings, and the list of changes need far less. */
const MAX_BYTES = 64 * 1024 * 1024;
/** The first line has object names and a digest. */
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
  /** It was interrupted before the journal was complete, so nothing else was written. */
  | { readonly found: 'beginning' }
  | { readonly found: 'journal'; readonly journal: OpenJournal }
  /** `from` and `to` are '' if they cannot be read. */
  | { readonly found: 'unusable'; readonly from: string; readonly to: string; readonly why: string };

/** Rejects with the error of the operating system if the disk cannot be read. */
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
  /** Covers everything after the first line. */
  readonly sha256: string;
}

/** The first line can be parsed by every version. The rest needs a version that knows the format. */
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
  // The body can be megabytes: it is written in place instead of being concatenated from copies.
  const bytes = Buffer.alloc(Buffer.byteLength(line) + Buffer.byteLength(body));
  bytes.write(body, bytes.write(line));
  return bytes;
}

export type DecodedJournal =
  | { readonly ok: true; readonly program: string; readonly journal: Journal }
  | {
      readonly ok: false;
      /** Truncated or corrupted, as opposed to written by another version. */
      readonly damaged: boolean;
      readonly from: string;
      readonly to: string;
      readonly why: string;
    };

export function decodeJournal(bytes: Uint8Array): DecodedJournal {
  const end = bytes.indexOf(NEWLINE);
  const header = decode(headerDecoder, textIn(bytes.subarray(0, Math.max(0, end))), { maxChars: MAX_HEADER });
  if (!header.ok) return { ok: false, damaged: true, from: '', to: '', why: damaged('the first line') };
  const { format, program, from, to, sha256 } = header.value;
  if (format !== FORMAT) {
    const why = `${CONFIGS} was written by version ${program} in format ${format}; this version supports format ${FORMAT}. Run that version or a newer one to finish the update. ${LEFT_ALONE}`;
    return { ok: false, damaged: false, from, to, why };
  }
  const body = bytes.subarray(end + 1);
  if (hash('sha256', body) !== sha256) return { ok: false, damaged: true, from, to, why: damaged('the contents') };
  return { ok: true, program, journal: JSON.parse(textIn(body)) as Journal };
}

const NEWLINE = 10;
const textIn = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const LEFT_ALONE = 'The daemon leaves the machine unchanged';

const damaged = (part: string): string =>
  `${CONFIGS}: expected ${part} as written by the daemon, found other bytes (the checksum differs). The previous state of the machine is therefore unknown. ${LEFT_ALONE}. Reinstall it`;

const nameOrNone = withFallback(string(), '');
const headerDecoder: Decoder<Header> = object({
  format: number(),
  sha256: string(),
  program: nameOrNone,
  from: nameOrNone,
  to: nameOrNone,
});

export type LogRecord =
  /** Everything is staged, and the machine is being changed. The first attempt is 1. */
  | { readonly state: 'changing'; readonly attempt: number; readonly bootId: string }
  /** The disk is at the new config. Services are being reloaded or restarted. */
  | { readonly state: 'changed' }
  /** `staged`: the next boot uses another OS deployment. */
  | { readonly state: 'rebooting'; readonly bootId: string; readonly staged: boolean }
  /** The update failed and is being rolled back. */
  | { readonly state: 'back'; readonly problem: Problem }
  /** The disk is at the old config again. `mark`: the OS deployment that was running at that time. */
  | { readonly state: 'rebooting back'; readonly bootId: string; readonly mark: string }
  | { readonly state: 'returned' }
  | { readonly state: 'done' };

export interface DecodedLog {
  readonly records: readonly LogRecord[];
  /** The offset of the next record. Anything already there is an incomplete record. */
  readonly end: number;
}

const SECTOR = 512;
const CHECKSUM_LENGTH = 16;

/**
 * Even a disk that fails repeatedly produces few records, and their messages are truncated, so this is never exceeded.
 */
export const LOG_BYTES = 64 * 1024;

/** One line of JSON with a checksum, in separate sectors, so that an interrupted write damages no other record. */
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

/** Null: missing or incomplete. */
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
