import { describe, expect, it } from 'vitest';
import { createFreshness } from './freshness.ts';

const node = (name: string, resourceVersion: string) => ({ metadata: { name, uid: 'u', resourceVersion } });
const storeOf = (...objects: ReturnType<typeof node>[]) => ({
  get: (name: string) => objects.find(({ metadata }) => metadata.name === name),
});

describe('a view of what was written', () => {
  it('is behind until the watch has brought the write', () => {
    const freshness = createFreshness();
    freshness.wrote('Node', node('a', '100'));
    expect(freshness.isBehind('Node', storeOf(node('a', '99')))).toBe(true);
    expect(freshness.isBehind('Node', storeOf(node('a', '100')))).toBe(false);
    expect(freshness.isBehind('Node', storeOf(node('a', '99')))).toBe(false);
  });

  it('is not behind for ever where the object is gone', () => {
    const freshness = createFreshness();
    freshness.wrote('Node', node('a', '100'));
    expect(freshness.isBehind('Node', storeOf())).toBe(false);
  });

  it('compares numbers, not text', () => {
    const freshness = createFreshness();
    freshness.wrote('Node', node('a', '1000'));
    expect(freshness.isBehind('Node', storeOf(node('a', '999')))).toBe(true);
  });

  it('can be asked for one object', () => {
    const freshness = createFreshness();
    freshness.wrote('Node', node('a', '100'));
    freshness.wrote('Node', node('b', '101'));
    const store = storeOf(node('a', '100'), node('b', '100'));
    expect(freshness.isBehind('Node', store, 'a')).toBe(false);
    expect(freshness.isBehind('Node', store, 'b')).toBe(true);
    expect(freshness.isBehind('Node', store, 'c')).toBe(false);
    expect(freshness.isBehind('Node', store)).toBe(true);
  });

  it('knows of kinds apart', () => {
    const freshness = createFreshness();
    freshness.wrote('Node', node('a', '100'));
    expect(freshness.isBehind('MachineConfigPool', storeOf(node('a', '1')))).toBe(false);
  });
});
