import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextTokens, type ProvisioningToken } from './provisioning-tokens.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const now = Date.parse('2026-05-01T12:00:00Z');

/** A token that was created `age` ago with the lifetime `lives`. */
const token = (name: string, age: number, lives = DAY): ProvisioningToken => ({
  token: name,
  created: new Date(now - age).toISOString(),
  expires: new Date(now - age + lives).toISOString(),
});

const table: [string, ProvisioningToken[], string[], number][] = [
  ['none', [], ['new'], 12 * HOUR],
  ['a fresh one', [token('a', 0)], ['a'], 12 * HOUR],
  ['one before its half life', [token('a', 12 * HOUR - 1)], ['a'], 1],
  ['one at its half life', [token('a', 12 * HOUR)], ['new', 'a'], 12 * HOUR],
  ['two, both valid', [token('b', HOUR), token('a', 13 * HOUR)], ['b', 'a'], 11 * HOUR],
  ['two, the older one expired', [token('b', 6 * HOUR), token('a', 24 * HOUR)], ['b'], 6 * HOUR],
  ['two, both expired', [token('b', 25 * HOUR), token('a', 37 * HOUR)], ['new'], 12 * HOUR],
  ['three, put there by hand', [token('c', 0), token('b', 0), token('a', 0)], ['c', 'b'], 12 * HOUR],
  ['one of a controller whose clock is slightly ahead', [token('a', -HOUR)], ['a'], 13 * HOUR],
  ['one of a controller whose clock was ahead', [token('a', -41 * DAY)], ['new', 'a'], 12 * HOUR],
  ['two, the older one of a clock ahead', [token('b', 12 * HOUR), token('a', -41 * DAY)], ['new', 'b'], 12 * HOUR],
  ['one of a longer lifetime than now', [token('a', 13 * HOUR, 10 * DAY)], ['new', 'a'], 12 * HOUR],
  ['one of a shorter lifetime than now', [token('a', 0, 2 * HOUR)], ['new', 'a'], 2 * HOUR],
];

describe('nextTokens', () => {
  it.each(table)('of %s', (_, kept, expected, dueIn) => {
    const { tokens, due } = nextTokens(kept, now, DAY, () => 'new');
    expect(tokens.map((each) => each.token)).toEqual(expected);
    expect(due - now).toBe(dueIn);
  });

  it('creates a token with the whole lifetime', () => {
    expect(nextTokens([], now, DAY, () => 'new').tokens).toEqual([
      { token: 'new', created: '2026-05-01T12:00:00.000Z', expires: '2026-05-02T12:00:00.000Z' },
    ]);
  });

  it('always returns one that is valid for half the lifetime, and never more than two, however late it is called', () => {
    const delays = fc.array(fc.integer({ min: 0, max: 60 * HOUR }), { maxLength: 30 });
    fc.assert(
      fc.property(delays, fc.integer({ min: 1000, max: 48 * HOUR }), (late, lifetime) => {
        let [at, kept, minted]: [number, ProvisioningToken[], number] = [now, [], 0];
        for (const delay of late) {
          const next = nextTokens(kept, at, lifetime, () => String((minted += 1)));
          const [newest] = next.tokens;
          expect(Date.parse(newest?.expires ?? '') - at).toBeGreaterThanOrEqual(lifetime / 2);
          expect(next.tokens.length).toBeLessThanOrEqual(2);
          expect(next.tokens.every(({ expires }) => Date.parse(expires) > at)).toBe(true);
          expect(next.due).toBeGreaterThan(at);
          // A valid token stays valid: a machine that is booting is not cut off.
          const before = kept.filter(({ expires }) => Date.parse(expires) > at).map((each) => each.token);
          expect(next.tokens.map((each) => each.token)).toEqual(expect.arrayContaining(before));
          kept = next.tokens;
          at = next.due + delay;
        }
      }),
    );
  });
});
