import { describe, expect, it } from 'vitest';
import { holdValue, modeOfAll, rebootRequests } from './reboot-requests.ts';

const plain = (value: string) => rebootRequests({ 'reboot.metal3.io': value });

describe('a reboot is asked for', () => {
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

  it('by us, who say since when', () => {
    expect(rebootRequests({ 'reboot.metal3.io/slipway': holdValue(7) })).toEqual([
      { key: 'slipway', mode: 'soft', since: 7 },
    ]);
  });

  it('and hard, where one of several asks for it', () => {
    expect(modeOfAll(rebootRequests({ 'reboot.metal3.io': '', 'reboot.metal3.io/x': '{"mode":"hard"}' }))).toBe('hard');
    expect(modeOfAll(rebootRequests({ 'reboot.metal3.io': '' }))).toBe('soft');
    expect(rebootRequests(undefined)).toEqual([]);
  });
});
