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

describe('an update that was cut off', () => {
  it.each<[string, readonly LogRecord[], Partial<InterruptedUpdate>, object]>([
    ['before anything was changed is forgotten', [], {}, { step: 'discard' }],
    ['while files changed goes on', [changing()], {}, { step: 'go forward', attempt: 2 }],
    ['while files changed, by the power, goes on too', [changing()], { bootId: 'two' }, { step: 'go forward' }],
    ['in a post action goes on', [changing(), changed], {}, { step: 'go forward', attempt: 2 }],
    ['for the third time goes on', [...often(changing(), MAX_RESUMPTIONS)], {}, { step: 'go forward', attempt: 4 }],
    [
      'more than three times goes back, and says so',
      [...often(changing(), MAX_RESUMPTIONS + 1), changed],
      {},
      { step: 'go back', problem: { code: 'SLW_DAEMON_INTERRUPTED' } },
    ],
    ['when it was to reboot, reboots', [changing(), rebooting()], {}, { step: 'reboot' }],
    ['by its own reboot is confirmed', [changing(), rebooting()], { bootId: 'two' }, { step: 'confirm' }],
    [
      'by the power before its reboot was in order, so that the OS is the old one, goes on',
      [changing(), rebooting()],
      { bootId: 'two', runsOldOS: true },
      { step: 'go forward', attempt: 2 },
    ],
    [
      'by its own reboot is confirmed where the OS was to stay, and did',
      [changing(), rebooting(false)],
      { bootId: 'two', runsOldOS: true },
      { step: 'confirm' },
    ],
    [
      'by the power before each of its reboots goes back',
      [...often(changing(), MAX_RESUMPTIONS + 1), rebooting()],
      { bootId: 'two', runsOldOS: true },
      { step: 'go back', problem: { code: 'SLW_DAEMON_INTERRUPTED' } },
    ],
    ['on its way back goes on back, with the reason it had', [changing(), back], {}, { step: 'go back', problem }],
    [
      'when it was to reboot into the old, reboots',
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
      'by its reboot into an OS that is the old one in another order of arguments is over',
      [changing(), rebooting(), back, rebootingBack('two', 'new OS')],
      { bootId: 'three', mark: 'old OS, more or less' },
      { step: 'clean up old', problem },
    ],
    [
      'by the power before its reboot into the old OS stages that again',
      [changing(), rebooting(), back, rebootingBack('two', 'new OS')],
      { bootId: 'three', mark: 'new OS' },
      { step: 'go back', problem },
    ],
    [
      'and never gets back to the old OS is given up',
      [changing(), rebooting(), back, ...often(rebootingBack('two', 'new OS'), MAX_RESUMPTIONS + 1)],
      { bootId: 'three', mark: 'new OS' },
      { step: 'give up', problem },
    ],
    [
      'after it was back is cleaned up',
      [changing(), back, { state: 'returned' }],
      {},
      { step: 'clean up old', problem },
    ],
    ['after it was done is cleaned up', [changing(), { state: 'done' }], {}, { step: 'clean up new' }],
  ])('%s', (_, records, now, expected) => {
    expect(step(records, now)).toMatchObject(expected);
  });
});
