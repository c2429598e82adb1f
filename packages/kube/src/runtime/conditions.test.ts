import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findCondition, removeCondition, setCondition } from './conditions.ts';
import type { Condition, ConditionUpdate } from './conditions.ts';

const BEFORE = '2026-01-01T00:00:00Z';
const now = new Date('2026-01-02T03:04:05.678Z');
const STAMPED = '2026-01-02T03:04:05Z';

const updated: Condition = {
  type: 'Updated',
  status: 'True',
  reason: 'AllDone',
  message: '3 of 3',
  lastTransitionTime: BEFORE,
};
const degraded: Condition = { type: 'Degraded', status: 'False', lastTransitionTime: BEFORE };

describe('setCondition', () => {
  const cases: { promise: string; list: Condition[] | undefined; update: ConditionUpdate; expected: Condition[] }[] = [
    {
      promise: 'a new condition goes to the end and carries the time',
      list: [updated],
      update: { type: 'Degraded', status: 'False' },
      expected: [updated, { ...degraded, lastTransitionTime: STAMPED }],
    },
    {
      promise: 'a message is stored without secrets',
      list: [],
      update: { type: 'Degraded', status: 'False', message: 'refused: http://shop:abc12@proxy:3128' },
      expected: [{ ...degraded, message: 'refused: http://shop:(hidden)@proxy:3128', lastTransitionTime: STAMPED }],
    },
    {
      promise: 'an absent list is an empty one',
      list: undefined,
      update: { type: 'Degraded', status: 'Unknown', reason: 'NotSeen' },
      expected: [{ type: 'Degraded', status: 'Unknown', reason: 'NotSeen', lastTransitionTime: STAMPED }],
    },
    {
      promise: 'a changed status keeps its place and changes the transition time',
      list: [updated, degraded],
      update: { type: 'Updated', status: 'False', reason: 'Updating', message: '1 of 3' },
      expected: [
        { type: 'Updated', status: 'False', reason: 'Updating', message: '1 of 3', lastTransitionTime: STAMPED },
        degraded,
      ],
    },
    {
      promise: 'a changed message alone leaves the transition time',
      list: [updated, degraded],
      update: { type: 'Updated', status: 'True', reason: 'AllDone', message: '4 of 4' },
      expected: [{ ...updated, message: '4 of 4' }, degraded],
    },
    {
      promise: 'a new observed generation is a change',
      list: [updated],
      update: { type: 'Updated', status: 'True', reason: 'AllDone', message: '3 of 3', observedGeneration: 7 },
      expected: [{ ...updated, observedGeneration: 7 }],
    },
    {
      promise: 'a type that is there twice is there once afterwards',
      list: [updated, degraded, { ...updated, status: 'False' }],
      update: { type: 'Updated', status: 'True', reason: 'AllDone', message: '3 of 3' },
      expected: [updated, degraded],
    },
    {
      promise: 'a message longer than the API takes is shortened',
      list: [],
      update: { type: 'Degraded', status: 'True', message: 'x'.repeat(40_000) },
      expected: [{ type: 'Degraded', status: 'True', message: `${'x'.repeat(32_767)}…`, lastTransitionTime: STAMPED }],
    },
  ];
  it.each(cases)('$promise', ({ list, update, expected }) => {
    expect(setCondition(list, update, now)).toEqual(expected);
  });

  it('returns the same list if nothing changes', () => {
    const list = [updated, degraded];
    expect(setCondition(list, { type: 'Updated', status: 'True', reason: 'AllDone', message: '3 of 3' }, now)).toBe(
      list,
    );
  });
});

describe('removeCondition and findCondition', () => {
  it('removes every condition of the type, and returns the same list if there is none', () => {
    const list = [updated, degraded];
    expect(removeCondition(list, 'Updated')).toEqual([degraded]);
    expect(removeCondition(list, 'Paused')).toBe(list);
    expect(findCondition(list, 'Degraded')).toBe(degraded);
    expect(findCondition(undefined, 'Degraded')).toBeUndefined();
  });
});

describe('laws', () => {
  const update = fc.record(
    {
      type: fc.constantFrom('A', 'B', 'C'),
      status: fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const),
      reason: fc.constantFrom('R1', 'R2'),
      message: fc.constantFrom('m1', 'm2'),
      observedGeneration: fc.nat(3),
    },
    { requiredKeys: ['type', 'status'] },
  );
  const list = fc
    .array(update, { maxLength: 6 })
    .map((updates) => updates.reduce<readonly Condition[]>((all, one) => setCondition(all, one, new Date(BEFORE)), []));

  it('setting the same condition twice is setting it once, and the second time changes nothing', () => {
    fc.assert(
      fc.property(list, update, (conditions, one) => {
        const first = setCondition(conditions, one, now);
        expect(setCondition(first, one, new Date('2027-01-01T00:00:00Z'))).toBe(first);
      }),
    );
  });

  it('the other conditions keep their values and order, and the transition time follows the status', () => {
    fc.assert(
      fc.property(list, update, (conditions, one) => {
        const next = setCondition(conditions, one, now);
        const others = (all: readonly Condition[]): Condition[] => all.filter(({ type }) => type !== one.type);
        expect(others(next)).toEqual(others(conditions));
        const old = findCondition(conditions, one.type);
        const set = findCondition(next, one.type);
        expect(set?.lastTransitionTime).toBe(old?.status === one.status ? old.lastTransitionTime : STAMPED);
      }),
    );
  });
});
