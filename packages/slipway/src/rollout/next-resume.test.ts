import { samplePool } from '@slipway/fleet/testing';
import { describe, expect, it } from 'vitest';
import { type NextResume, nextResume } from './next-resume.ts';

const halted = { at: '2026-01-02T03:05:00.000Z', node: 'n1', reason: 'x' };

describe('what resume does about a pool', () => {
  it.each<[string, ReturnType<typeof samplePool>, NextResume]>([
    [
      'nothing where nothing holds it',
      samplePool({ state: { endedAt: '2026-01-02T04:00:00.000Z' } }),
      { isPaused: false, ask: null },
    ],
    [
      'asks whether it can go on without a machine that is away',
      samplePool({ state: {} }),
      { isPaused: false, ask: 'on its way to rendered-worker-2' },
    ],
    ['only ends the pause where that is all', samplePool({ paused: true, state: {} }), { isPaused: true, ask: null }],
    ['ends the pause', samplePool({ paused: true }), { isPaused: true, ask: null }],
    [
      'asks where its rollout has halted',
      samplePool({ state: { halted } }),
      { isPaused: false, ask: 'halted because of node n1' },
    ],
    [
      'asks where its target is held',
      samplePool({ held: 'rendered-worker-1' }),
      { isPaused: false, ask: 'held at rendered-worker-1' },
    ],
    [
      'does both',
      samplePool({ paused: true, held: 'a', state: { halted } }),
      { isPaused: true, ask: 'halted because of node n1' },
    ],
  ])('%s', (_, pool, next) => {
    expect(nextResume(pool)).toEqual(next);
  });
});
