import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RenderedConfigFacts, retain, youthMs } from './retention.ts';

const now = 10_000_000;
const config = (name: string, ageMinutes: number, more: Partial<RenderedConfigFacts> = {}): RenderedConfigFacts => ({
  name,
  createdAt: now - ageMinutes * 60_000,
  isMarked: false,
  isReferenced: false,
  ...more,
});

describe('rendered configs', () => {
  it('that nothing refers to go, but for the newest', () => {
    const configs = [config('a', 40), config('b', 30), config('c', 20), config('d', 10)];
    expect(retain(configs, 2, now)).toEqual({ mark: [], unmark: [], remove: ['b', 'a'], lookAgainAt: undefined });
  });

  it('that something refers to stay, however old, and are marked', () => {
    const configs = [config('a', 40, { isReferenced: true }), config('b', 30), config('c', 20)];
    expect(retain(configs, 1, now)).toMatchObject({ mark: ['a'], remove: ['b'] });
  });

  it('that nothing refers to any more lose their mark', () => {
    const configs = [config('a', 40, { isMarked: true }), config('b', 30, { isMarked: true, isReferenced: true })];
    expect(retain(configs, 5, now)).toMatchObject({ mark: [], unmark: ['a'], remove: [] });
  });

  it('made a moment ago stay until something had the time to point at them', () => {
    const configs = [config('a', 0.5, { isMarked: true }), config('b', 0), config('c', 2)];
    expect(retain(configs, 0, now)).toEqual({
      mark: [],
      unmark: [],
      remove: ['c'],
      lookAgainAt: now - 30_000 + youthMs,
    });
  });

  it('are never removed when referred to, and at least the newest are kept', () => {
    const facts = fc.record({
      createdAt: fc.integer({ min: 0, max: now }),
      isMarked: fc.boolean(),
      isReferenced: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(facts, { maxLength: 30 }), fc.integer({ min: 0, max: 10 }), (list, keep) => {
        const configs = list.map((each, index) => ({ ...each, name: `rendered-${index}` }));
        const { remove, mark, unmark } = retain(configs, keep, now);
        const byName = new Map(configs.map((each) => [each.name, each]));
        expect(remove.filter((name) => byName.get(name)?.isReferenced)).toEqual([]);
        expect(configs.length - remove.length).toBeGreaterThanOrEqual(Math.min(keep, configs.length));
        expect(new Set([...remove, ...mark, ...unmark]).size).toBe(remove.length + mark.length + unmark.length);
      }),
    );
  });
});
