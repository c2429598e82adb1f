import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ownOwners } from '../host/file-system.ts';
import { emptyImage } from '../host/testing/disk-image.ts';
import { createMemoryDisk } from '../host/testing/memory-disk.ts';
import { UPDATE_DIRECTORY } from '../state-file.ts';
import {
  createJournal,
  decodeJournal,
  decodeLog,
  encodeJournal,
  encodeRecord,
  type Journal,
  LOG_BYTES,
  type LogRecord,
  openJournal,
} from './journal.ts';
import { makeUpdateDirectory } from './stage.ts';

const config = (name: string) => ({ name, spec: { config: { ignition: { version: '3.5.0' } } } });

const journal: Journal = {
  from: config('rendered-worker-a'),
  to: config('rendered-worker-b'),
  changes: [],
  actions: [{ type: 'Reboot' }],
  moves: [{ kind: 'drop', number: 0, path: '/etc/a', held: 'entry' }],
  commit: { kind: 'put', what: 'entry', number: 1, path: '/etc/c', stagedAt: '/etc/.slipway-new-1', held: 'nothing' },
  madeDirectories: [],
  madeOriginals: [],
  endedOriginals: [],
  units: [],
  oldPasswordHash: '$6$secret',
  oldOS: null,
};

async function disk() {
  const files = createMemoryDisk(emptyImage(ownOwners()));
  await files.makeDirectory('/etc', { ...ownOwners(), mode: 0o755 });
  return files;
}

async function diskWithJournal(change: (bytes: Uint8Array) => Uint8Array = (bytes) => bytes) {
  const files = await disk();
  await makeUpdateDirectory(files);
  const open = await createJournal(files, journal, '1.2.3');
  const path = `${UPDATE_DIRECTORY}/configs.json`;
  const bytes = change(await files.read(path, 100_000));
  await files.remove(path);
  await files.createFile(path, { ...ownOwners(), mode: 0o600, bytes });
  return { files, open };
}

describe('the journal of an update', () => {
  it('reads back what was written, including its log', async () => {
    const { files, open } = await diskWithJournal();
    await open.write({ state: 'changing', attempt: 1, bootId: 'one' });
    await open.write({ state: 'changed' });
    const found = await openJournal(files);
    expect(found).toMatchObject({
      found: 'journal',
      journal: { ...journal, records: [{ state: 'changing', attempt: 1, bootId: 'one' }, { state: 'changed' }] },
    });
  });

  it('is readable by root only, because it contains the old password hash', async () => {
    const { files } = await diskWithJournal();
    expect(await files.lookAt(UPDATE_DIRECTORY)).toMatchObject({ mode: 0o700 });
    for (const name of ['configs.json', 'log']) {
      expect(await files.lookAt(`${UPDATE_DIRECTORY}/${name}`)).toMatchObject({ mode: 0o600 });
    }
  });

  it('does not exist before an update', async () => {
    expect(await openJournal(await disk())).toEqual({ found: 'nothing' });
  });

  it('that is incomplete and has no log counts as just started', async () => {
    const { files } = await diskWithJournal((bytes) => bytes.subarray(0, bytes.length - 1));
    expect(await openJournal(files)).toEqual({ found: 'beginning' });
  });

  it('that was damaged while the machine was changing cannot be used, and the result names the update', async () => {
    const { files, open } = await diskWithJournal((bytes) => bytes.with(bytes.length - 2, 0));
    await open.write({ state: 'changing', attempt: 1, bootId: 'one' });
    expect(await openJournal(files)).toMatchObject({
      found: 'unusable',
      from: 'rendered-worker-a',
      to: 'rendered-worker-b',
      why: expect.stringContaining('checksum'),
    });
  });

  it.each([[0], [1]])('written by a newer version cannot be used, with %i records in its log', async (count) => {
    const newer = (bytes: Uint8Array) => Buffer.from(Buffer.from(bytes).toString().replace('"format":1', '"format":2'));
    const { files, open } = await diskWithJournal(newer);
    if (count > 0) await open.write({ state: 'changing', attempt: 1, bootId: 'one' });
    const found = await openJournal(files);
    expect(found).toMatchObject({ found: 'unusable', to: 'rendered-worker-b' });
    expect(found).toMatchObject({ why: expect.stringContaining('version 1.2.3') });
  });

  it.each([
    ['no JSON', 'x', ''],
    ['null', 'null', ''],
    ['a list', '[1]', ''],
    ['a format that is not a number', '{"format":"2","sha256":"","to":"b"}', ''],
    ['a checksum that is not a string', '{"format":2,"sha256":[],"to":"b"}', ''],
    ['names that are not strings', '{"format":2,"sha256":"","program":7,"from":["a"],"to":{"name":"b"}}', ''],
    ['no names', '{"format":2,"sha256":""}', ''],
    ['names', '{"format":2,"sha256":"","to":"b"}', 'b'],
  ])('with a first line that has %s names its update as far as it can be parsed', (_, line, to) => {
    expect(decodeJournal(Buffer.from(`${line}\n{}`))).toMatchObject({ ok: false, from: '', to });
  });

  it('is rejected if any byte changed', () => {
    const bytes = encodeJournal(journal, '1.2.3');
    const header = bytes.indexOf(10);
    for (let at = header + 1; at < bytes.length; at += 1) {
      expect(decodeJournal(bytes.with(at, (bytes[at] ?? 0) ^ 1)).ok).toBe(false);
    }
  });
});

const bootId = fc.uuid();
const recordOf: fc.Arbitrary<LogRecord> = fc.oneof(
  fc.record({ state: fc.constant('changing' as const), attempt: fc.nat(5), bootId }),
  fc.record({ state: fc.constant('changed' as const) }),
  fc.record({ state: fc.constant('rebooting' as const), bootId, staged: fc.boolean() }),
  fc.record({
    state: fc.constant('back' as const),
    problem: fc.record({
      code: fc.constant('SLW_DAEMON_DISK'),
      message: fc.string({ unit: 'binary', maxLength: 900 }),
    }),
  }),
  fc.record({ state: fc.constant('done' as const) }),
);
const records = fc.array(recordOf, { maxLength: 8 });

function write(log: Uint8Array, all: readonly LogRecord[]): number {
  let end = 0;
  for (const [index, record] of all.entries()) {
    const bytes = encodeRecord(record, index);
    log.set(bytes, end);
    end += bytes.length;
  }
  return end;
}

describe('the log of an update', () => {
  it('reads back what was written', () => {
    fc.assert(
      fc.property(records, (all) => {
        const log = new Uint8Array(LOG_BYTES);
        const end = write(log, all);
        expect(decodeLog(log)).toEqual({ records: all, end });
      }),
    );
  });

  it('loses at most the record that a power cut interrupted, and the next record replaces it', () => {
    fc.assert(
      fc.property(records, recordOf, recordOf, fc.nat(), (all, torn, next, cut) => {
        const log = new Uint8Array(LOG_BYTES);
        const end = write(log, all);
        const bytes = encodeRecord(torn, all.length);
        const text = bytes.indexOf(10);
        log.set(bytes.subarray(0, cut % text), end);
        expect(decodeLog(log)).toEqual({ records: all, end });
        log.set(encodeRecord(next, all.length), end);
        expect(decodeLog(log).records).toEqual([...all, next]);
      }),
    );
  });

  it('ends at the first damaged record', () => {
    fc.assert(
      fc.property(records, fc.nat(), (all, at) => {
        fc.pre(all.length > 0);
        const log = new Uint8Array(LOG_BYTES);
        write(log, all);
        const text = log.indexOf(10);
        log[at % text] = (log[at % text] ?? 0) ^ 1;
        expect(decodeLog(log).records).toEqual([]);
      }),
    );
  });

  it('is empty if nothing was written', () => {
    expect(decodeLog(new Uint8Array(LOG_BYTES))).toEqual({ records: [], end: 0 });
    expect(decodeLog(new Uint8Array())).toEqual({ records: [], end: 0 });
  });
});
