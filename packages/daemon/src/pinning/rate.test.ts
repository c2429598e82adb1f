import { describe, expect, it } from 'vitest';
import { addSample, rateOf, type Sample } from './rate.ts';

const after = (...samples: [seconds: number, bytes: number][]): readonly Sample[] =>
  samples.reduce<readonly Sample[]>((list, [at, bytes]) => addSample(list, { at: at * 1000, bytes }), []);

describe('how fast bytes come', () => {
  it.each<[string, readonly Sample[], number, number | null]>([
    ['cannot be told without any', [], 10, null],
    ['nor of one', after([0, 0]), 10, null],
    ['nor at once', after([0, 0], [1, 1000]), 1, null],
    ['is what came in the time it took', after([0, 0], [5, 1000]), 10, 100],
    ['over the last minute', after([0, 0], [30, 60_000], [100, 66_000]), 120, 100],
    ['is not told where nothing came for a minute', after([0, 0], [5, 1000]), 70, null],
    ['begins anew where there is less than before', after([0, 5000], [10, 1000], [20, 2000]), 20, 100],
  ])('%s', (_, samples, now, expected) => {
    expect(rateOf(samples, now * 1000)).toBe(expected);
  });

  it('few samples are kept, however many images come', () => {
    let samples: readonly Sample[] = [];
    for (let at = 0; at < 1000; at += 1) samples = addSample(samples, { at: at * 1000, bytes: at });
    expect(samples.length).toBeLessThan(70);
  });
});
