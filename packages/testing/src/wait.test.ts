import { describe, expect, it } from 'vitest';
import { until, untilFound } from './wait.ts';

describe('until', () => {
  it('resolves to the result of the check once it stops throwing', async () => {
    let asked = 0;
    const answer = await until(() => {
      asked += 1;
      if (asked < 3) throw new Error('not yet');
      return asked;
    }, 'process');
    expect(answer).toBe(3);
  });

  it('past its bound throws the last error', async () => {
    let asked = 0;
    const late = until(
      async () => {
        throw new Error(`asked ${++asked} times`);
      },
      { withinMs: 30, everyMs: 5 },
    );
    await expect(late).rejects.toThrow(/^asked \d+ times$/);
    expect(asked).toBeGreaterThan(1);
  });
});

describe('untilFound', () => {
  it('accepts null, 0 and the empty string as results, but not undefined and false', async () => {
    for (const found of [null, 0, '']) expect(await untilFound('it', () => found, 'process')).toBe(found);
    for (const none of [undefined, false] as const) {
      await expect(untilFound('a leader', () => none, 20)).rejects.toThrow('timed out waiting for: a leader');
    }
  });
});
