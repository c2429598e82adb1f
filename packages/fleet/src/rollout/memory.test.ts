import { describe, expect, it } from 'vitest';
import type { RolloutRecord } from './facts.ts';
import { addToHistory, decodeHistory, decodeState, encodeHistory, encodeState } from './memory.ts';
import { at, NEW, OLD, sampleState } from './testing/sample.ts';

const whole = sampleState({
  endedAt: at(0),
  healthySince: at(-1),
  resumedAt: at(-2),
  halted: { at: at(-3), node: 'worker-1', reason: 'it broke' },
  hold: { kind: 'return', instead: NEW, at: at(-4), why: 'it broke' },
  answer: { request: 'cancel', at: at(-5), ok: true, text: 'done' },
});

const record = (more: Partial<RolloutRecord> = {}): RolloutRecord => ({
  config: NEW,
  from: OLD,
  startedAt: at(-60),
  endedAt: at(0),
  outcome: 'completed',
  nodes: 3,
  capacity: 1,
  why: 'newest rendered config',
  ...more,
});

describe('the stored rollouts of a pool', () => {
  it('decode to what was encoded', () => {
    for (const state of [whole, sampleState()]) {
      expect(decodeState(encodeState(state))).toEqual(state);
      expect(encodeState(decodeState(encodeState(state)) ?? state)).toBe(encodeState(state));
    }
    const history = [record(), record({ osMajor: 9, from: null, outcome: 'rolled back' })];
    expect(decodeHistory(encodeHistory(history))).toEqual(history);
  });

  it('of an older version lack fields, and are still read', () => {
    const { endedAt: _e, wave: _w, resumedAt: _r, fromOsMajor: _f, ...older } = sampleState();
    expect(decodeState(JSON.stringify(older))).toEqual(sampleState({ fromOsMajor: null }));
  });

  it.each([
    '',
    'null',
    '[]',
    `[${encodeState(whole)}]`,
    '{"target":1}',
    JSON.stringify({ ...whole, startedAt: 'yesterday' }),
    JSON.stringify({ ...whole, nodes: -1 }),
    JSON.stringify({ ...whole, halted: 'yes' }),
    JSON.stringify({ ...whole, hold: { ...whole.hold, kind: 'other' } }),
    JSON.stringify({ ...whole, answer: { ...whole.answer, ok: 'yes' } }),
    JSON.stringify({ ...whole, target: 'x'.repeat(20_000) }),
    encodeState(whole).slice(0, -1),
  ])('are not used if damaged: %#', (text) => {
    expect(decodeState(text)).toBeNull();
  });

  it.each(['', '{}', '[1]', JSON.stringify([{ ...record(), outcome: 'great' }]), `[${' '.repeat(70_000)}]`])(
    'a damaged history is not used: %#',
    (text) => {
      expect(decodeHistory(text)).toBeNull();
    },
  );

  it('are the last 20, the newest first', () => {
    let history: readonly RolloutRecord[] = [];
    for (let number = 1; number <= 30; number += 1) history = addToHistory(record({ nodes: number }), history);
    expect(history).toHaveLength(20);
    expect(history[0]?.nodes).toBe(30);
    const long = Array.from({ length: 40 }, () => record());
    expect(decodeHistory(encodeHistory(long))).toHaveLength(20);
    expect(decodeHistory(JSON.stringify(long))).toHaveLength(20);
  });
});
