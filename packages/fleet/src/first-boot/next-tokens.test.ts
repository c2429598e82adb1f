import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextTokens, type ProvisioningToken } from './provisioning-tokens.ts';

const hour = 3_600_000;
const day = 24 * hour;
const now = Date.parse('2026-05-01T12:00:00Z');

/** A token that was made `age` ago and was to live for `lives`. */
const token = (name: string, age: number, lives = day): ProvisioningToken => ({
  token: name,
  created: new Date(now - age).toISOString(),
  expires: new Date(now - age + lives).toISOString(),
});

const table: [string, ProvisioningToken[], string[], number][] = [
  ['none', [], ['new'], 12 * hour],
  ['a fresh one', [token('a', 0)], ['a'], 12 * hour],
  ['one before its half life', [token('a', 12 * hour - 1)], ['a'], 1],
  ['one at its half life', [token('a', 12 * hour)], ['new', 'a'], 12 * hour],
  ['two, both valid', [token('b', hour), token('a', 13 * hour)], ['b', 'a'], 11 * hour],
  ['two, the older one expired', [token('b', 6 * hour), token('a', 24 * hour)], ['b'], 6 * hour],
  ['two, both expired', [token('b', 25 * hour), token('a', 37 * hour)], ['new'], 12 * hour],
  ['three, put there by hand', [token('c', 0), token('b', 0), token('a', 0)], ['c', 'b'], 12 * hour],
  ['one of a longer lifetime than now', [token('a', 13 * hour, 10 * day)], ['new', 'a'], 12 * hour],
  ['one of a shorter lifetime than now', [token('a', 0, 2 * hour)], ['new', 'a'], 2 * hour],
];

describe('nextTokens', () => {
  it.each(table)('of %s', (_, kept, expected, dueIn) => {
    const { tokens, due } = nextTokens(kept, now, day, () => 'new');
    expect(tokens.map((each) => each.token)).toEqual(expected);
    expect(due - now).toBe(dueIn);
  });

  it('gives a new token the whole lifetime', () => {
    expect(nextTokens([], now, day, () => 'new').tokens).toEqual([
      { token: 'new', created: '2026-05-01T12:00:00.000Z', expires: '2026-05-02T12:00:00.000Z' },
    ]);
  });

  it('always leaves one that is valid for half the lifetime, and never more than two, however late it is asked', () => {
    const delays = fc.array(fc.integer({ min: 0, max: 60 * hour }), { maxLength: 30 });
    fc.assert(
      fc.property(delays, fc.integer({ min: 1000, max: 48 * hour }), (late, lifetime) => {
        let [at, kept, minted]: [number, ProvisioningToken[], number] = [now, [], 0];
        for (const delay of late) {
          const next = nextTokens(kept, at, lifetime, () => String((minted += 1)));
          const [newest] = next.tokens;
          expect(Date.parse(newest?.expires ?? '') - at).toBeGreaterThanOrEqual(lifetime / 2);
          expect(next.tokens.length).toBeLessThanOrEqual(2);
          expect(next.tokens.every(({ expires }) => Date.parse(expires) > at)).toBe(true);
          expect(next.due).toBeGreaterThan(at);
          // What was valid stays valid: a machine under way is not cut off.
          const before = kept.filter(({ expires }) => Date.parse(expires) > at).map((each) => each.token);
          expect(next.tokens.map((each) => each.token)).toEqual(expect.arrayContaining(before));
          kept = next.tokens;
          at = next.due + delay;
        }
      }),
    );
  });
});
