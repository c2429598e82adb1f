import { samplePool } from '@slipway/fleet/testing';
import { describe, expect, it } from 'vitest';
import { findTarget, type NextResume, nextResume, whichPools } from './rollout.ts';

describe('the pools of pause and resume', () => {
  it('are the named one, or all of them', () => {
    expect(whichPools('pause', 'worker', {})).toBe('worker');
    expect(whichPools('pause', undefined, { all: true })).toBeNull();
  });

  it.each<[string | undefined, boolean, RegExp]>([
    [undefined, false, /slipway pause: expected a POOL or --all .* found neither/],
    ['worker', true, /found both worker and --all/],
  ])('must be given exactly once: %s, --all %s', (pool, all, message) => {
    expect(() => whichPools('pause', pool, { all })).toThrow(message);
  });
});

const [a, b, c] = ['1f2e', '1f3a', '9a8b'].map((start) => `rendered-worker-${start}${'0'.repeat(28)}`);
const names = [a, b, c].map(String);

describe('the rendered config that --to means', () => {
  it.each([
    [String(b), b],
    ['9', c],
    ['1f2', a],
    ['rendered-worker-1f3', b],
  ])('%s', (asked, found) => {
    expect(findTarget(asked, 'worker', names)).toBe(found);
  });

  it('is the exact match, even if another name starts with it', () => {
    expect(findTarget('rendered-worker-1', 'worker', ['rendered-worker-1', 'rendered-worker-12'])).toBe(
      'rendered-worker-1',
    );
  });

  it.each([
    [
      '1f',
      /one matching rendered config of pool worker, found several\. Choose from: rendered-worker-1f2e0000…, rendered-worker-1f3a0000…\. /,
    ],
    ['', /found several/],
    ['7', /found none\. Choose from: rendered-worker-1f2e0000…, .*slipway history worker/],
  ])('%j is refused with the names to choose from', (asked, message) => {
    expect(() => findTarget(asked, 'worker', names)).toThrow(
      expect.objectContaining({ code: 'SLW_CLI_NO_CONFIG', message: expect.stringMatching(message) }),
    );
  });
});

const halted = { at: '2026-01-02T03:05:00.000Z', node: 'n1', reason: 'x' };

describe('resume of a pool', () => {
  it.each<[string, ReturnType<typeof samplePool>, NextResume]>([
    [
      'does nothing if nothing holds it',
      samplePool({ state: { endedAt: '2026-01-02T04:00:00.000Z' } }),
      { isPaused: false, ask: null },
    ],
    [
      'asks the controller whether to continue without an absent machine',
      samplePool({ state: {} }),
      { isPaused: false, ask: 'updating to rendered-worker-2' },
    ],
    [
      'only ends the pause if the rollout is not halted',
      samplePool({ paused: true, state: {} }),
      { isPaused: true, ask: null },
    ],
    ['ends the pause', samplePool({ paused: true }), { isPaused: true, ask: null }],
    [
      'asks the controller if the rollout has halted',
      samplePool({ state: { halted } }),
      { isPaused: false, ask: 'halted because of node n1' },
    ],
    [
      'asks the controller if the target is held',
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
