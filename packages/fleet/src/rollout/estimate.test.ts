import { describe, expect, it } from 'vitest';
import { estimateSeconds } from './estimate.ts';
import type { RolloutRecord } from './facts.ts';
import { at, NEW, OLD } from './sample.ts';

const took = (minutes: number, more: Partial<RolloutRecord> = {}): RolloutRecord => ({
  config: NEW,
  from: OLD,
  startedAt: at(-minutes),
  endedAt: at(0),
  outcome: 'completed',
  nodes: 6,
  capacity: 2,
  why: '',
  ...more,
});

describe('estimateSeconds', () => {
  it('is what a batch took before, times the batches to come', () => {
    expect(estimateSeconds([took(30)], { nodes: 6, capacity: 2 })).toBe(30 * 60);
    expect(estimateSeconds([took(30)], { nodes: 7, capacity: 2 })).toBe(40 * 60);
    expect(estimateSeconds([took(30)], { nodes: 1, capacity: 10 })).toBe(10 * 60);
  });

  it('takes the middle of the rollouts before', () => {
    expect(estimateSeconds([took(300), took(30), took(33)], { nodes: 2, capacity: 2 })).toBe(11 * 60);
    expect(estimateSeconds([took(30), took(60)], { nodes: 2, capacity: 2 })).toBe(15 * 60);
  });

  it('counts batches wave by wave, and the soak between them', () => {
    const coming = { nodes: 6, capacity: 5, waves: [1, 6], soakMs: 60_000 };
    expect(estimateSeconds([took(30)], coming)).toBe(21 * 60);
    expect(estimateSeconds([took(30)], { ...coming, nodes: 5, updated: 1 })).toBe(10 * 60);
  });

  it.each<[string, RolloutRecord[]]>([
    ['there was none', []],
    ['they were cut off', [took(30, { outcome: 'superseded' })]],
    ['they changed no machine', [took(0, { nodes: 0 })]],
    ['they only went back', [took(30, { outcome: 'cancelled' }), took(30, { outcome: 'returned' })]],
    ['their clock went backwards', [took(-5)]],
  ])('the rollouts before say nothing when %s', (_, history) => {
    expect(estimateSeconds(history, { nodes: 3, capacity: 1 })).toBeNull();
    expect(estimateSeconds(history, { nodes: 0, capacity: 1 })).toBe(0);
  });
});
