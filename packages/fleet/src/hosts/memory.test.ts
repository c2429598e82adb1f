import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DriveMemory, HostMemory } from './host-step.ts';
import {
  encodeDriveMemory,
  encodeMemory,
  holdValue,
  modeOfAll,
  readBootAnywayAfter,
  readDriveMemory,
  readHostMemory,
  rebootRequests,
} from './memory.ts';

const UID = '0f4bd3f0-9c2a-4a6e-8f1b-5d2f6a1c7e90';
const NOW = 1_800_000_000_000;
const drive: DriveMemory = {
  doing: 'none',
  url: 'http://iso.example/a.iso',
  isAttached: true,
  reported: 'http://ironic.example/cdrom-1.iso',
  node: '1',
  isSent: false,
  since: NOW - 1000,
  notBefore: NOW + 60_000,
  failures: 2,
  message: 'why',
};
const host: HostMemory = {
  doing: 'adopt',
  isSent: true,
  since: NOW,
  onSince: NOW - 1,
  failures: 1,
  message: 'why',
  notBefore: NOW,
};

describe('a memory', () => {
  it('survives a round trip', () => {
    expect(readDriveMemory(encodeDriveMemory(drive, UID), UID, NOW)).toEqual(drive);
    expect(readHostMemory(encodeMemory(host), NOW)).toEqual(host);
    expect(readDriveMemory(undefined, UID, NOW)).toBeNull();
    expect(readHostMemory(undefined, NOW)).toBeNull();
  });

  it.each([['{'], ['null'], ['[]'], ['7'], ['{"doing":"dance"}'], ['x'.repeat(20_000)]])(
    'of a drive that is unreadable never counts as attached, and has the drive emptied: %s',
    (value) => {
      expect(readDriveMemory(value, UID, NOW)).toMatchObject({ doing: 'detach', isAttached: false, isSent: false });
      expect(readHostMemory(value, NOW)).toBeNull();
    },
  );

  it.each([
    ['another object', encodeDriveMemory(drive, 'a-uid')],
    ['nothing known', '{"of":"'],
    ['an object whose UID begins the same', encodeDriveMemory(drive, `${UID}0`)],
  ])('of %s is ignored: a backup has restored it, or a user has written it at the creation', (_, value) => {
    expect(readDriveMemory(value, UID, NOW)).toBeNull();
  });

  it('does not count as attached what was never reported; some BMCs report no name', () => {
    const { reported: _, ...unreported } = drive;
    expect(readDriveMemory(JSON.stringify(unreported), UID, NOW)?.isAttached).toBe(false);
    expect(readDriveMemory(encodeDriveMemory({ ...drive, reported: '' }, UID), UID, NOW)?.isAttached).toBe(true);
    expect(readDriveMemory(encodeDriveMemory({ ...drive, doing: 'attach' }, UID), UID, NOW)?.isAttached).toBe(false);
  });

  it('of a clock that was ahead causes no wait beyond the longest delay', () => {
    const ahead = { ...drive, since: NOW * 2, notBefore: NOW * 2 };
    expect(readDriveMemory(encodeDriveMemory(ahead, UID), UID, NOW)).toMatchObject({
      since: NOW,
      notBefore: NOW + 512 * 60_000,
    });
  });

  it('is read, whatever its content', () => {
    fc.assert(
      fc.property(fc.json(), (value) => {
        expect(readDriveMemory(value, UID, NOW)).not.toBeNull();
        expect(readHostMemory(value, NOW)?.failures ?? 0).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('booting anyway', () => {
  it.each([
    [undefined, null],
    ['', null],
    ['0', null],
    ['-1', null],
    ['always', null],
    ['1', 1],
    ['12', 12],
  ])('with the annotation %s is after %s failures', (value, expected) => {
    expect(readBootAnywayAfter(value)).toBe(expected);
  });
});

const plain = (value: string) => rebootRequests({ 'reboot.metal3.io': value });

describe('a reboot is requested', () => {
  it.each([
    ['', 'soft'],
    ['{}', 'soft'],
    ['{"mode":"soft"}', 'soft'],
    ['{"mode":"hard"}', 'hard'],
    ['{"mode":"hard","force":true}', 'hard'],
    ['{"mode":"loud"}', 'soft'],
    ['hard', 'soft'],
    ['null', 'soft'],
    ['["hard"]', 'soft'],
    ['[{"mode":"hard"}]', 'soft'],
    [`{"mode":"hard","x":"${'x'.repeat(2000)}"}`, 'soft'],
  ])('by the plain annotation with the value %s, in the mode %s', (value, mode) => {
    expect(plain(value)).toEqual([{ key: '', mode, since: 0 }]);
  });

  it('by an annotation with a key, which is the part behind the slash', () => {
    expect(
      rebootRequests({ 'reboot.metal3.io/maintenance-7': '', 'reboot.metal3.io/slipway': '{"mode":"hard"}' }),
    ).toEqual([
      { key: 'maintenance-7', mode: 'soft', since: 0 },
      { key: 'slipway', mode: 'hard', since: 0 },
    ]);
  });

  it.each([['reboot.metal3.io/'], ['reboot.metal3.iox'], ['xreboot.metal3.io'], ['reboot.metal3.iox/key']])(
    'but not by %s',
    (name) => {
      expect(rebootRequests({ [name]: '' })).toEqual([]);
    },
  );

  it('by us, with a start time', () => {
    expect(rebootRequests({ 'reboot.metal3.io/slipway': holdValue(7) })).toEqual([
      { key: 'slipway', mode: 'soft', since: 7 },
    ]);
  });

  it('and hard, if one of several requests it', () => {
    expect(modeOfAll(rebootRequests({ 'reboot.metal3.io': '', 'reboot.metal3.io/x': '{"mode":"hard"}' }))).toBe('hard');
    expect(modeOfAll(rebootRequests({ 'reboot.metal3.io': '' }))).toBe('soft');
    expect(rebootRequests(undefined)).toEqual([]);
  });
});
