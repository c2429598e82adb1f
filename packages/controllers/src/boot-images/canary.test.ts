import { describe, expect, it } from 'vitest';
import {
  CANARY_MS,
  type CanaryFacts,
  formatCanaryName,
  type CanaryStep,
  type ObservedCanary,
  nextCanaryStep,
} from './canary.ts';

it('the name of a canary fits into a label, and differs between sets', () => {
  expect(formatCanaryName('worker-a')).toBe('worker-a-canary');
  const long = 'w'.repeat(80);
  expect(formatCanaryName(`${long}-a`)).toHaveLength(63);
  expect(formatCanaryName(`${long}-a`)).not.toBe(formatCanaryName(`${long}-b`));
});

const canary: ObservedCanary = { isOurs: true, digest: 'new', madeAt: 1000, readyReplicas: 0, isGoing: false };
const facts: CanaryFacts = { wanted: 'new', failed: null, replicas: 3, found: null, now: 2000 };

describe('the canary of a MachineSet', () => {
  it.each<[string, Partial<CanaryFacts>, CanaryStep]>([
    ['is created first', {}, { type: 'make' }],
    ['is not needed for a set without replicas', { replicas: 0 }, { type: 'not needed' }],
    ['is awaited', { found: canary }, { type: 'wait', ms: CANARY_MS - 1000 }],
    ['has passed when its Node is Ready', { found: { ...canary, readyReplicas: 1 } }, { type: 'passed' }],
    [
      'has passed even if no process saw it in time',
      { found: { ...canary, readyReplicas: 1 }, now: 3 * CANARY_MS },
      { type: 'passed' },
    ],
    ['has failed after half an hour', { found: canary, now: 1000 + CANARY_MS }, { type: 'failed' }],
    ['is deleted after a kill before its removal', { found: canary, failed: 'new' }, { type: 'failed' }],
    ['is not created again for a failed image', { failed: 'new' }, { type: 'refused' }],
    ['is created again for another image', { failed: 'old' }, { type: 'make' }],
    ['is deleted if it tries another image', { found: { ...canary, digest: 'old' } }, { type: 'outdated' }],
    ['is awaited while it terminates', { found: { ...canary, isGoing: true } }, { type: 'wait', ms: CANARY_MS }],
    [
      'is never another client’s MachineSet',
      { found: { ...canary, isOurs: false, readyReplicas: 1 } },
      { type: 'taken' },
    ],
  ])('%s', (_, change, step) => {
    expect(nextCanaryStep({ ...facts, ...change })).toEqual(step);
  });
});
