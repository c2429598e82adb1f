import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeLog, encodeRecord, LOG_BYTES, type LogRecord } from './log-record.ts';

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
  it('is read as it was written', () => {
    fc.assert(
      fc.property(records, (all) => {
        const log = new Uint8Array(LOG_BYTES);
        const end = write(log, all);
        expect(decodeLog(log)).toEqual({ records: all, end });
      }),
    );
  });

  it('loses at most the record during whose writing the power was cut, and the next one takes its place', () => {
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

  it('ends where a byte is not what was written', () => {
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

  it('is empty where nothing was written', () => {
    expect(decodeLog(new Uint8Array(LOG_BYTES))).toEqual({ records: [], end: 0 });
    expect(decodeLog(new Uint8Array())).toEqual({ records: [], end: 0 });
  });
});
