import type { Pod, PodDisruptionBudget } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { computeBudgetStatus, nextPodStep } from './stand-ins.ts';

const podIn = (phase: string | undefined, deleted = false): Pod => ({
  metadata: { name: 'a', ...(deleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
  status: phase === undefined ? {} : { phase },
});

describe('a pod on a simulated machine', () => {
  it.each([
    ['that was just bound', podIn('Pending'), true, 'run'],
    ['without a status', podIn(undefined), true, 'run'],
    ['that runs', podIn('Running'), true, 'nothing'],
    ['that was evicted', podIn('Running', true), true, 'end'],
    ['that was deleted before it ran', podIn('Pending', true), true, 'end'],
    ['that was evicted, while the machine is down', podIn('Running', true), false, 'nothing'],
    ['that was bound, while the machine is down', podIn('Pending'), false, 'nothing'],
  ] as const)('%s', (_, given, isUp, step) => {
    expect(nextPodStep(given, isUp)).toBe(step);
  });
});

const pod = (name: string, phase = 'Running', deleted = false): Pod => ({
  metadata: { name, labels: { app: 'shop' }, ...(deleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
  status: { phase },
});
const other: Pod = { metadata: { name: 'other', labels: { app: 'blog' } }, status: { phase: 'Running' } };
const budget = (
  limit: Pick<NonNullable<PodDisruptionBudget['spec']>, 'minAvailable' | 'maxUnavailable'>,
  disruptedPods?: Record<string, string>,
): PodDisruptionBudget => ({
  metadata: { name: 'shop', generation: 7 },
  spec: { ...limit, selector: { matchLabels: { app: 'shop' } } },
  ...(disruptedPods !== undefined && { status: { disruptedPods } }),
});
const three = [pod('a'), pod('b'), pod('c')];

describe('a budget', () => {
  it.each([
    ['of which two must run, with three', budget({ minAvailable: 2 }), three, 1],
    ['of which all must run', budget({ minAvailable: '100%' }), three, 0],
    ['of which half must run, rounded up', budget({ minAvailable: '50%' }), three, 1],
    ['of which one may be unavailable', budget({ maxUnavailable: 1 }), three, 1],
    [
      'of which one may be unavailable and one does not run',
      budget({ maxUnavailable: 1 }),
      [pod('a'), pod('b', 'Pending')],
      0,
    ],
    [
      'of which one may be unavailable and one is being deleted',
      budget({ maxUnavailable: 1 }),
      [pod('a'), pod('b', 'Running', true)],
      0,
    ],
    ['of which two must run, with an eviction in progress', budget({ minAvailable: 2 }, { a: 'now' }), three, 0],
    ['that selects no existing pod', budget({ minAvailable: 1 }), [other], 0],
  ])('%s allows %#', (_, given, pods, allowed) => {
    expect(computeBudgetStatus(given, pods).disruptionsAllowed).toBe(allowed);
  });

  it('counts only its pods, reports the generation that was counted, and forgets evicted pods that are gone', () => {
    expect(computeBudgetStatus(budget({ minAvailable: 1 }, { gone: 'before', a: 'now' }), [...three, other])).toEqual({
      expectedPods: 3,
      currentHealthy: 2,
      desiredHealthy: 1,
      disruptionsAllowed: 1,
      observedGeneration: 7,
      disruptedPods: { gone: null },
    });
  });
});
