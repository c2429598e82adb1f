import type { Pod } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { nextPodStep } from './stand-ins.ts';

const pod = (phase: string | undefined, deleted = false): Pod => ({
  metadata: { name: 'a', ...(deleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
  status: phase === undefined ? {} : { phase },
});

describe('a pod on a simulated machine', () => {
  it.each([
    ['that was just bound', pod('Pending'), true, 'run'],
    ['that nobody has said anything of', pod(undefined), true, 'run'],
    ['that runs', pod('Running'), true, 'nothing'],
    ['that was evicted', pod('Running', true), true, 'end'],
    ['that was deleted before it ran', pod('Pending', true), true, 'end'],
    ['that was evicted, while the machine is down', pod('Running', true), false, 'nothing'],
    ['that was bound, while the machine is down', pod('Pending'), false, 'nothing'],
  ] as const)('%s', (_, given, isUp, step) => {
    expect(nextPodStep(given, isUp)).toBe(step);
  });
});
