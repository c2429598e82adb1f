import type { SizedImage } from '@slipway/fleet';
import { describe, expect, it } from 'vitest';
import { type SnapshotInput, snapshotOf } from './pin-snapshot.ts';
import { imageOf, presentOf, setOf } from './testing/sample-sets.ts';

const image = (...layers: [string, number][]): SizedImage => ({
  layers: layers.map(([digest, size]) => ({ digest, size })),
});
const sizes = new Map([
  [imageOf('a'), image(['base', 100], ['a', 10])],
  [imageOf('b'), image(['base', 100], ['b', 20])],
  [imageOf('c'), image(['c', 30])],
]);
const [s, t] = [setOf('s', ['a', 'b'], 2), setOf('t', ['b', 'c'])];
const input: SnapshotInput = {
  wanted: [s, t],
  unknown: new Set(),
  pinned: [],
  present: presentOf('a'),
  sizes,
  problems: [],
  bytesPerSecond: 10,
  waitsFor: '',
  lastError: '',
  store: null,
};

describe('what a node says of its images', () => {
  it('counts images by set, and bytes that they share once', () => {
    const { progress, isWorking } = snapshotOf(input);
    expect(isWorking).toBe(true);
    expect(progress).toMatchObject({
      sets: [
        { name: 's', images: { done: 1, total: 2 }, bytes: { done: 110, total: 130 } },
        // The base came with an image of the other set.
        { name: 't', images: { done: 0, total: 2 }, bytes: { done: 100, total: 150 } },
      ],
      bytes: { done: 110, total: 160 },
      secondsLeft: 5,
    });
  });

  it('is through when all is there and pinned, and not before', () => {
    const present = presentOf('a', 'b', 'c');
    expect(snapshotOf({ ...input, present, pinned: [s] }).isWorking).toBe(true);
    expect(snapshotOf({ ...input, present, pinned: [s, t] })).toMatchObject({
      isWorking: false,
      progress: { bytesPerSecond: null, secondsLeft: null, bytes: { done: 160, total: 160 } },
    });
    expect(snapshotOf({ ...input, present: presentOf('a', 'b'), pinned: [s, t] }).isWorking).toBe(true);
  });

  it('tells the generation that is pinned, which may be an earlier one, but not that of another set of the same name', () => {
    const pinned = [setOf('s', ['a'], 1), setOf('t', ['b'], 1, 'deleted')];
    expect(snapshotOf({ ...input, pinned }).sets).toEqual([
      { name: 's', desiredGeneration: 2, currentGeneration: 1, failure: null },
      { name: 't', desiredGeneration: 1, currentGeneration: null, failure: null },
    ]);
  });

  it('says nothing of bytes that it does not know, or of a time that cannot be told', () => {
    const { progress } = snapshotOf({ ...input, sizes: new Map(), bytesPerSecond: null });
    expect(progress).toMatchObject({ bytes: null, secondsLeft: null, sets: [{ bytes: null }, { bytes: null }] });
  });

  it('is not through while a set cannot be read', () => {
    const all = { ...input, wanted: [], unknown: new Set(['s']) };
    expect(snapshotOf(all).isWorking).toBe(true);
  });
});
