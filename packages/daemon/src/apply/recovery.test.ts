import { describe, expect, it } from 'vitest';
import type { LogRecord } from './journal.ts';
import { type InterruptedUpdate, MAX_RESUMPTIONS, nextStep } from './recovery.ts';

const problem = { code: 'SLW_DAEMON_UNIT', message: 'restarting a.service: it does not start' };
const changing = (attempt = 1): LogRecord => ({ state: 'changing', attempt, bootId: 'one' });
const changed: LogRecord = { state: 'changed' };
const rebooting = (staged = true): LogRecord => ({ state: 'rebooting', bootId: 'one', staged });
const back: LogRecord = { state: 'back', problem };
const rebootingBack = (bootId = 'two', mark = ''): LogRecord => ({ state: 'rebooting back', bootId, mark });
const often = (record: LogRecord, times: number): LogRecord[] => Array.from({ length: times }, () => record);

const step = (records: readonly LogRecord[], now: Partial<InterruptedUpdate> = {}) =>
  nextStep({ records, bootId: 'one', runsOldOS: false, mark: '', ...now });

describe('an interrupted update', () => {
  it.each<[string, readonly LogRecord[], Partial<InterruptedUpdate>, object]>([
    ['before anything was changed is discarded', [], {}, { step: 'discard' }],
    ['while files changed continues', [changing()], {}, { step: 'go forward', attempt: 2 }],
    ['while files changed, by a power cut, continues too', [changing()], { bootId: 'two' }, { step: 'go forward' }],
    ['in a post action continues', [changing(), changed], {}, { step: 'go forward', attempt: 2 }],
    ['for the third time continues', [...often(changing(), MAX_RESUMPTIONS)], {}, { step: 'go forward', attempt: 4 }],
    [
      'more than three times rolls back, and reports that',
      [...often(changing(), MAX_RESUMPTIONS + 1), changed],
      {},
      { step: 'go back', problem: { code: 'SLW_DAEMON_INTERRUPTED' } },
    ],
    ['before its reboot reboots', [changing(), rebooting()], {}, { step: 'reboot' }],
    ['by its own reboot is confirmed', [changing(), rebooting()], { bootId: 'two' }, { step: 'confirm' }],
    [
      'by a power cut before a clean reboot, so that the OS is the old one, continues',
      [changing(), rebooting()],
      { bootId: 'two', runsOldOS: true },
      { step: 'go forward', attempt: 2 },
    ],
    [
      'by its own reboot is confirmed if the OS does not change',
      [changing(), rebooting(false)],
      { bootId: 'two', runsOldOS: true },
      { step: 'confirm' },
    ],
    [
      'by a power cut before each of its reboots rolls back',
      [...often(changing(), MAX_RESUMPTIONS + 1), rebooting()],
      { bootId: 'two', runsOldOS: true },
      { step: 'go back', problem: { code: 'SLW_DAEMON_INTERRUPTED' } },
    ],
    [
      'during its rollback continues to roll back, for the same reason',
      [changing(), back],
      {},
      { step: 'go back', problem },
    ],
    [
      'before its reboot into the old config reboots',
      [changing(), rebooting(), back, rebootingBack()],
      { bootId: 'two' },
      { step: 'reboot back', problem },
    ],
    [
      'by its reboot into the old files is over',
      [changing(), rebooting(), back, rebootingBack()],
      { bootId: 'three' },
      { step: 'clean up old', problem },
    ],
    [
      'by its reboot into the old OS is over',
      [changing(), rebooting(), back, rebootingBack('two', 'new OS')],
      { bootId: 'three', mark: 'old OS', runsOldOS: true },
      { step: 'clean up old', problem },
    ],
    [
      'by its reboot into the old OS with another order of arguments is over',
      [changing(), rebooting(), back, rebootingBack('two', 'new OS')],
      { bootId: 'three', mark: 'old OS, more or less' },
      { step: 'clean up old', problem },
    ],
    [
      'by a power cut before its reboot into the old OS stages that again',
      [changing(), rebooting(), back, rebootingBack('two', 'new OS')],
      { bootId: 'three', mark: 'new OS' },
      { step: 'go back', problem },
    ],
    [
      'that never reaches the old OS again is given up',
      [changing(), rebooting(), back, ...often(rebootingBack('two', 'new OS'), MAX_RESUMPTIONS + 1)],
      { bootId: 'three', mark: 'new OS' },
      { step: 'give up', problem },
    ],
    [
      'after the rollback is cleaned up',
      [changing(), back, { state: 'returned' }],
      {},
      { step: 'clean up old', problem },
    ],
    ['after it was done is cleaned up', [changing(), { state: 'done' }], {}, { step: 'clean up new' }],
  ])('%s', (_, records, now, expected) => {
    expect(step(records, now)).toMatchObject(expected);
  });
});
