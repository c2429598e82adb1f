import { describe, expect, it } from 'vitest';
import { type RolloutHolds, formatNextSteps } from './pools.ts';

describe('what happens after a command', () => {
  it.each<[string, RolloutHolds, RegExp]>([
    ['nothing holds the machines', { isPaused: false, stopped: null }, /^They go\.$/],
    [
      'the pool is paused',
      { isPaused: true, stopped: null },
      /no machine moves yet: pool worker is paused: slipway resume worker/,
    ],
    ['the fleet is stopped', { isPaused: false, stopped: 'fire' }, /stopped \(fire\): slipway resume --all/],
    [
      'both',
      { isPaused: true, stopped: 'fire' },
      /slipway resume --all ends that; and pool worker is paused.*They go\.$/,
    ],
  ])('where %s', (_, brakes, words) => {
    expect(formatNextSteps('worker', brakes, 'They go.')).toMatch(words);
  });
});
