import type { PinProgress } from '@slipway/fleet';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PinSnapshot } from './report.ts';
import { type LastReport, computeNextReportAt } from './reporter.ts';

const progress: PinProgress = {
  sets: [{ name: 's', images: { done: 0, total: 20 }, bytes: null }],
  bytes: { done: 0, total: 1000 },
  bytesPerSecond: null,
  secondsLeft: null,
  waitsFor: '',
  lastError: '',
  store: { free: 500, size: 1000 },
};
const working: PinSnapshot = {
  sets: [{ name: 's', desiredGeneration: 2, currentGeneration: 1, failure: null }],
  progress,
  isWorking: true,
  problem: '',
  problemKey: '',
};
const at = (done: number, more: Partial<PinProgress> = {}): PinSnapshot => ({
  ...working,
  progress: { ...progress, bytes: { done, total: 1000 }, ...more },
});
const failing = (key: string, message = key): PinSnapshot => ({ ...working, problem: message, problemKey: key });
const idle: PinSnapshot = { ...working, isWorking: false };
const toLastReport = (snapshot: PinSnapshot): LastReport => ({ assignment: 'a', snapshot, at: 1000 });

describe('the next report', () => {
  it.each<[string, LastReport | null, PinSnapshot, number | null]>([
    ['is due at the start', null, working, 0],
    ['is due immediately for another assignment', { ...toLastReport(working), assignment: 'b' }, working, 0],
    ['is never due without a change', toLastReport(working), working, null],
    ['is due immediately when all is complete', toLastReport(working), idle, 0],
    ['is due immediately when that is no longer true', toLastReport(idle), working, 0],
    ['is due for each tenth, at most every ten seconds', toLastReport(at(90)), at(101), 11_000],
    ['is due after two minutes for less than a tenth', toLastReport(at(101)), at(102), 121_000],
    ['is never due for the rate alone', toLastReport(at(101)), at(101, { bytesPerSecond: 7, secondsLeft: 3 }), null],
    [
      'is due after two minutes when there is no rate any more',
      toLastReport(at(101, { bytesPerSecond: 7, secondsLeft: 120 })),
      at(101, { bytesPerSecond: null, secondsLeft: null }),
      121_000,
    ],
    ['is due when it waits for something else', toLastReport(working), at(0, { waitsFor: 'its turn' }), 11_000],
    ['has the last error with the next tenth', toLastReport(working), at(0, { lastError: 'x' }), 121_000],
    ['is due immediately for a problem', toLastReport(working), failing('x'), 0],
    ['is due immediately when no problem is left', toLastReport(failing('x')), working, 0],
    ['is due for another problem, at most every ten seconds', toLastReport(failing('x')), failing('y'), 11_000],
    [
      'is not due for other numbers in the same problem',
      toLastReport(failing('x', '1 GB')),
      failing('x', '2 GB'),
      null,
    ],
  ])('%s', (_, before, now, expected) => {
    expect(computeNextReportAt(before, 'a', now)).toBe(expected);
  });

  const free = (bytes: number): PinSnapshot => ({
    ...idle,
    progress: { ...progress, store: { free: bytes, size: 1000 } },
  });
  it.each([
    ['hardly changed: never', free(450), null],
    ['changed by a tenth: after an hour', free(400), 3_601_000],
  ])('of an idle node whose free space has %s', (_, now, expected) => {
    expect(computeNextReportAt(toLastReport(free(500)), 'a', now)).toBe(expected);
  });

  it('is due at most 13 times, however many images arrive within two minutes', () => {
    const steps = fc.array(
      fc.record({ ms: fc.integer({ min: 1, max: 2000 }), bytes: fc.integer({ min: 1, max: 50 }) }),
      {
        minLength: 100,
        maxLength: 1000,
      },
    );
    fc.assert(
      fc.property(steps, (list) => {
        let [now, done, writes]: [number, number, number] = [0, 0, 0];
        let last: LastReport | null = null;
        for (const { ms, bytes } of list) {
          if (now >= 120_000) break;
          [now, done] = [now + ms, Math.min(1000, done + bytes)];
          const snapshot = { ...at(done), isWorking: done < 1000 };
          const due = computeNextReportAt(last, 'a', snapshot);
          if (due === null || due > now) continue;
          [last, writes] = [{ assignment: 'a', snapshot, at: now }, writes + 1];
        }
        expect(writes).toBeLessThanOrEqual(13);
        expect(last?.snapshot.isWorking).toBe(done < 1000);
      }),
    );
  });
});
