import { describe, expect, it } from 'vitest';
import { type RolloutHolds, formatNextSteps } from './pools.ts';

describe('the next steps after a command', () => {
  it.each<[string, RolloutHolds, RegExp]>([
    ['nothing holds the machines', { isPaused: false, stopped: null }, /^They go\.$/],
    [
      'the pool is paused',
      { isPaused: true, stopped: null },
      /^No machine is updated yet\. Pool worker is paused; unpause it with slipway resume worker\. They go\.$/,
    ],
    [
      'the fleet is stopped',
      { isPaused: false, stopped: 'fire' },
      /stopped \(fire\); continue with slipway resume --all\./,
    ],
    ['both', { isPaused: true, stopped: 'fire' }, /slipway resume --all\. Pool worker is paused.*They go\.$/],
  ])('if %s', (_, brakes, words) => {
    expect(formatNextSteps('worker', brakes, 'They go.')).toMatch(words);
  });
});
