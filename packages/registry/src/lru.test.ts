import { describe, expect, it } from 'vitest';
import { Lru } from './lru.ts';

describe('the cache', () => {
  it('stays within its limit and evicts the least recently used entry first', () => {
    const kept = new Lru<string>(10);
    kept.set('a', 'A', 4);
    kept.set('b', 'B', 4);
    expect(kept.get('a')).toBe('A');
    kept.set('c', 'C', 4);
    expect([kept.get('a'), kept.get('b'), kept.get('c')]).toEqual(['A', undefined, 'C']);
    expect(kept.weight).toBe(8);
  });

  it('is not emptied by an entry that is too large', () => {
    const kept = new Lru<string>(10);
    kept.set('a', 'A', 4);
    kept.set('b', 'B', 11);
    expect([kept.get('a'), kept.get('b')]).toEqual(['A', undefined]);
  });

  it('replaces an entry with the same key', () => {
    const kept = new Lru<string>(10);
    kept.set('a', 'A', 9);
    kept.set('a', 'B', 2);
    expect([kept.get('a'), kept.weight]).toEqual(['B', 2]);
  });
});
