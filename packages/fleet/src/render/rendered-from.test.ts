import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRenderedFrom, type RenderedConfigFacts, retain, sourceChanges, YOUTH_MS } from './rendered-from.ts';

const from = (name: string, digest: string) => ({ name, generation: 1, digest });

describe('the MachineConfigs of a rendered config', () => {
  it('decode to what was encoded', () => {
    const sources = [from('00-worker', 'a'), from('99-motd', 'b')];
    expect(readRenderedFrom(JSON.stringify(sources))).toEqual(sources);
  });

  it.each([undefined, '', 'no JSON', '{}', '[1]', '[{"name":"a"}]', '[{"name":1,"generation":1,"digest":""}]'])(
    'are not known if the annotation is %j',
    (text) => {
      expect(readRenderedFrom(text)).toBeNull();
    },
  );

  it('list what was added, removed and changed', () => {
    expect(
      sourceChanges([from('b', '1'), from('a', '1'), from('c', '1')], [from('c', '2'), from('d', '1'), from('a', '1')]),
    ).toEqual([
      { name: 'b', change: 'removed' },
      { name: 'c', change: 'changed' },
      { name: 'd', change: 'added' },
    ]);
  });
});

const NOW = 10_000_000;
const config = (name: string, ageMinutes: number, more: Partial<RenderedConfigFacts> = {}): RenderedConfigFacts => ({
  name,
  createdAt: NOW - ageMinutes * 60_000,
  isMarked: false,
  isReferenced: false,
  ...more,
});

describe('rendered configs', () => {
  it('that are not referenced are removed, except the newest', () => {
    const configs = [config('a', 40), config('b', 30), config('c', 20), config('d', 10)];
    expect(retain(configs, 2, NOW)).toEqual({ mark: [], unmark: [], remove: ['b', 'a'], lookAgainAt: undefined });
  });

  it('that are referenced stay, however old, and are marked', () => {
    const configs = [config('a', 40, { isReferenced: true }), config('b', 30), config('c', 20)];
    expect(retain(configs, 1, NOW)).toMatchObject({ mark: ['a'], remove: ['b'] });
  });

  it('that are no longer referenced lose their mark', () => {
    const configs = [config('a', 40, { isMarked: true }), config('b', 30, { isMarked: true, isReferenced: true })];
    expect(retain(configs, 5, NOW)).toMatchObject({ mark: [], unmark: ['a'], remove: [] });
  });

  it('that are new stay until something had time to refer to them', () => {
    const configs = [config('a', 0.5, { isMarked: true }), config('b', 0), config('c', 2)];
    expect(retain(configs, 0, NOW)).toEqual({
      mark: [],
      unmark: [],
      remove: ['c'],
      lookAgainAt: NOW - 30_000 + YOUTH_MS,
    });
  });

  it('are never removed while referenced, and at least the newest stay', () => {
    const facts = fc.record({
      createdAt: fc.integer({ min: 0, max: NOW }),
      isMarked: fc.boolean(),
      isReferenced: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(facts, { maxLength: 30 }), fc.integer({ min: 0, max: 10 }), (list, keep) => {
        const configs = list.map((each, index) => ({ ...each, name: `rendered-${index}` }));
        const { remove, mark, unmark } = retain(configs, keep, NOW);
        const byName = new Map(configs.map((each) => [each.name, each]));
        expect(remove.filter((name) => byName.get(name)?.isReferenced)).toEqual([]);
        expect(configs.length - remove.length).toBeGreaterThanOrEqual(Math.min(keep, configs.length));
        expect(new Set([...remove, ...mark, ...unmark]).size).toBe(remove.length + mark.length + unmark.length);
      }),
    );
  });
});
