// For tests: a rollout in progress, and one that has ended.
import type { RolloutRecord, RolloutState } from '@slipway/fleet';

export const AT = '2026-01-02T03:04:05.000Z';
export const state: RolloutState = {
  target: 'rendered-worker-2',
  from: 'rendered-worker-1',
  startedAt: AT,
  endedAt: null,
  nodes: 3,
  fromOsMajor: null,
  wave: 1,
  healthySince: null,
  resumedAt: null,
  halted: null,
  hold: null,
  answer: null,
};
export const record: RolloutRecord = {
  config: 'rendered-worker-2',
  from: 'rendered-worker-1',
  startedAt: AT,
  endedAt: AT,
  outcome: 'completed',
  nodes: 3,
  capacity: 1,
  why: 'newest rendered config',
};
