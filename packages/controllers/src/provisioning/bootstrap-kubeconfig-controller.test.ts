import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BootstrapToken, nextBootstrapTokens } from './bootstrap-kubeconfig-controller.ts';

const NOW = 1_000_000;
const DAY = 86_400_000;
const token = (id: string, left: number): BootstrapToken => ({ id, secret: 's', expires: NOW + left });

const table: [string, BootstrapToken[], string | undefined, string[], number][] = [
  ['none', [], undefined, [], 50],
  ['a fresh one', [token('a', 100)], 'a', [], 50],
  ['one just before its half life', [token('a', 51)], 'a', [], 1],
  ['one at its half life', [token('a', 50)], undefined, [], 50],
  ['an old and a new one', [token('a', 40), token('b', 90)], 'b', [], 40],
  ['an expired and a valid one', [token('a', 0), token('b', 90)], 'b', ['a'], 40],
  ['an expired one', [token('a', -1)], undefined, ['a'], 50],
  ['one of a clock that was ahead', [token('a', 41 * DAY)], undefined, [], 50],
  ['one of a clock that was ahead, and the next', [token('a', 41 * DAY), token('b', 90)], 'b', [], 40],
];

describe('nextBootstrapTokens', () => {
  it.each(table)('of %s', (_, kept, use, remove, dueIn) => {
    const step = nextBootstrapTokens(kept, NOW, 100);
    expect({ use: step.use?.id, remove: step.remove, dueIn: step.due - NOW }).toEqual({ use, remove, dueIn });
  });

  it('hands out only tokens with half a lifetime left, and removes only what has expired', () => {
    const tokens = fc.array(fc.integer({ min: -200, max: 200 }), { maxLength: 6 });
    fc.assert(
      fc.property(tokens, (left) => {
        const kept = left.map((each, index) => token(String(index), each));
        const { use, remove, due } = nextBootstrapTokens(kept, NOW, 100);
        expect(use === undefined || use.expires - NOW > 50).toBe(true);
        expect(kept.filter(({ id }) => remove.includes(id)).every(({ expires }) => expires <= NOW)).toBe(true);
        expect(due).toBeGreaterThan(NOW);
      }),
    );
  });
});
