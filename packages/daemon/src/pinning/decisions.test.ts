import type { SizedImage } from '@slipway/fleet';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DesiredSet } from './assigned-sets.ts';
import {
  decidePins,
  isComplete,
  planPulls,
  readNodeHealth,
  type PinsInput,
  computeStartDelayMs,
  findSpaceProblem,
  type PullPlan,
  type PullPlanInput,
} from './decisions.ts';
import type { Attempts } from './retry.ts';
import { buildImageName, buildPresent, buildSet } from './testing/sample-sets.ts';

const input = (more: Partial<PinsInput>): PinsInput => ({
  wanted: [],
  unknown: new Set(),
  pinned: [],
  present: new Set(),
  isWell: true,
  ...more,
});

describe('the next pins', () => {
  const old = buildSet('s', ['a', 'b'], 1);
  const grown = buildSet('s', ['a', 'b', 'c'], 2);
  const shrunk = buildSet('s', ['a'], 3);
  const other = buildSet('t', ['d']);
  it.each<[string, Partial<PinsInput>, readonly DesiredSet[]]>([
    ['nothing of an incomplete set', { wanted: [old], present: buildPresent('a') }, []],
    ['a complete set', { wanted: [old], present: buildPresent('a', 'b') }, [old]],
    [
      'the earlier generation until the new one is complete',
      { wanted: [grown], pinned: [old], present: buildPresent('a', 'b') },
      [old],
    ],
    ['then the new one', { wanted: [grown], pinned: [old], present: buildPresent('a', 'b', 'c') }, [grown]],
    ['a set that lost an image, as before', { wanted: [old], pinned: [old], present: buildPresent('a') }, [old]],
    ['no set that is no longer desired', { pinned: [old], present: buildPresent('a', 'b') }, []],
    ['a set that cannot be read now, as before', { unknown: new Set(['s']), pinned: [old] }, [old]],
    ['each set separately', { wanted: [grown, other], pinned: [old], present: buildPresent('a', 'd') }, [old, other]],
    [
      'nothing new on an unhealthy node',
      { wanted: [grown], pinned: [old], present: buildPresent('a', 'b', 'c'), isWell: false },
      [old],
    ],
    [
      'fewer on an unhealthy node',
      { wanted: [shrunk], pinned: [old], present: buildPresent('a'), isWell: false },
      [shrunk],
    ],
    ['no removed set, healthy or not', { pinned: [old], isWell: false }, []],
    [
      'a recreated set, when it is complete',
      { wanted: [buildSet('s', ['c'], 1, 'other')], pinned: [old], present: buildPresent('a', 'b') },
      [old],
    ],
  ])('%s', (_, more, expected) => {
    expect(decidePins(input(more))).toEqual(expected);
  });

  const letters = ['a', 'b', 'c', 'd', 'e', 'f'];
  const set = fc.record({
    name: fc.constantFrom('s', 't', 'u'),
    words: fc.uniqueArray(fc.constantFrom(...letters), { minLength: 1 }),
    generation: fc.integer({ min: 1, max: 3 }),
  });
  const sets = fc
    .uniqueArray(set, { selector: ({ name }) => name })
    .map((list) => list.map(({ name, words, generation }) => buildSet(name, words, generation)));

  it('never pins an incomplete set, and never unpins a desired one', () => {
    fc.assert(
      fc.property(sets, sets, fc.subarray(letters), fc.boolean(), (wanted, pinned, there, isWell) => {
        const present = buildPresent(...there);
        const next = decidePins(input({ wanted, pinned, present, isWell }));
        for (const each of next) expect(pinned.includes(each) || isComplete(each, present)).toBe(true);
        const names = new Set(next.map(({ name }) => name));
        for (const { name } of pinned) expect(names.has(name)).toBe(wanted.some((each) => each.name === name));
        expect(decidePins(input({ wanted, pinned: next, present, isWell }))).toEqual(next);
      }),
    );
  });
});

const sized: SizedImage = { layers: [{ digest: 'sha256:1', size: 10 }] };
const buildSizes = (...words: string[]): ReadonlyMap<string, SizedImage> =>
  new Map(words.map((word) => [buildImageName(word), sized]));
const problem = { code: 'SLW_PINNING_PULL', message: 'no' };
const tried = (tries: number, notBefore: number): Attempts => ({
  tries,
  firstAt: 0,
  lastAt: 50_000,
  notBefore,
  problem,
});
const buildAttempts = (entries: Record<string, Attempts>): ReadonlyMap<string, Attempts> =>
  new Map(Object.entries(entries).map(([word, attempts]) => [buildImageName(word), attempts]));

const well = { isReady: true, hasDiskPressure: false };
const workInput: PullPlanInput = {
  wanted: [buildSet('s', ['a', 'b']), buildSet('t', ['b', 'c'])],
  present: buildPresent('a'),
  sizes: new Map(),
  attempts: new Map(),
  node: well,
  mayPull: true,
  startsAt: 0,
  now: 60_000,
};
const idle: PullPlan = { learn: [], pull: [], stop: false, waitsFor: '', wakeAt: null };
const images = (...words: string[]): string[] => words.map(buildImageName);

describe('missing images', () => {
  it.each<[string, Partial<PullPlanInput>, PullPlan]>([
    ['nothing to do if all are present', { present: buildPresent('a', 'b', 'c') }, idle],
    ['their sizes come first', {}, { ...idle, learn: images('b', 'c') }],
    ['nothing is pulled until all sizes are known', { sizes: buildSizes('b') }, { ...idle, learn: images('c') }],
    ['then they are pulled, shared ones once', { sizes: buildSizes('b', 'c') }, { ...idle, pull: images('b', 'c') }],
    [
      'one of unknown size blocks the others while the failure may be temporary',
      { sizes: buildSizes('b'), attempts: buildAttempts({ c: tried(2, 61_000) }) },
      { ...idle, wakeAt: 61_000, waitsFor: 'the registry to report the size of 1 image' },
    ],
    [
      'and no longer once it counts as failed',
      { sizes: buildSizes('b'), attempts: buildAttempts({ c: tried(3, 61_000) }) },
      { ...idle, pull: images('b'), wakeAt: 61_000 },
    ],
    [
      'a failed one waits, the others continue',
      { sizes: buildSizes('b', 'c'), attempts: buildAttempts({ b: tried(1, 61_000) }) },
      { ...idle, pull: images('c'), wakeAt: 61_000 },
    ],
    [
      'and is retried when it is time',
      { sizes: buildSizes('b', 'c'), attempts: buildAttempts({ b: tried(5, 60_000) }) },
      { ...idle, pull: images('b', 'c') },
    ],
    [
      'a node that is not Ready waits',
      { node: { ...well, isReady: false } },
      { ...idle, waitsFor: 'the node to be Ready' },
    ],
    [
      'all pulls stop with disk pressure',
      { node: { ...well, hasDiskPressure: true } },
      { ...idle, stop: true, waitsFor: 'the node’s disk pressure to clear' },
    ],
    ['machines start one after another', { startsAt: 65_000 }, { ...idle, wakeAt: 65_000 }],
  ])('%s', (_, more, expected) => {
    expect(planPulls({ ...workInput, ...more })).toEqual(expected);
  });

  it('a machine without a pull slot queries no registry', () => {
    const work = planPulls({ ...workInput, mayPull: false, sizes: buildSizes('b') });
    expect(work).toMatchObject({ learn: [], pull: [], waitsFor: expect.stringContaining('a pull slot') });
  });
});

const GB = 1000 ** 3;
const image = (...layers: [string, number][]): SizedImage => ({
  layers: layers.map(([digest, size]) => ({ digest, size })),
});
const sizes = new Map([
  ['base', image(['l1', GB])],
  ['app', image(['l1', GB], ['l2', 2 * GB])],
  ['tool', image(['l1', GB], ['l2', 2 * GB], ['l3', GB])],
]);
const store = (freeBytes: number) => ({ path: '/var/lib/containers', freeBytes, sizeBytes: 20 * GB });
/** A tenth of 20 GB stays free. */
const RESERVE = 2 * GB;

describe('whether the missing images fit', () => {
  it.each<[string, string[], string[], number]>([
    ['one image', ['app'], [], 6 * GB],
    ['shared layers count once', ['app', 'tool'], [], 8 * GB],
    ['layers of present images do not count', ['app', 'tool'], ['base'], 6 * GB],
    ['nor do images of unknown size', ['app', 'riddle'], ['other'], 6 * GB],
  ])('%s', (_, missing, present, needed) => {
    const why = (free: number) => findSpaceProblem({ missing, present, sizes, store: store(free), learned: null });
    expect(why(needed + RESERVE)).toBeNull();
    expect(why(needed + RESERVE - 1)).toMatchObject({ code: 'SLW_PINNING_WOULD_NOT_FIT' });
  });

  it('both sizes are reported, with the path', () => {
    const why = findSpaceProblem({ missing: ['app'], present: [], sizes, store: store(5 * GB), learned: null });
    expect(why?.message).toMatch(/1 image\) need 6 GB in \/var\/lib\/containers.*Only 3 GB can be used: 5 GB are free/);
  });

  it('a pull that was cancelled for lack of space is not repeated before there is more', () => {
    const learned = { images: ['app'], bytes: 20 * GB };
    const why = (missing: string[], free: number) =>
      findSpaceProblem({ missing, present: [], sizes, store: store(free), learned });
    expect(why(['app'], 20 * GB + RESERVE)?.message).toMatch(/^app took 20 GB in .*Only 20 GB can be used/);
    expect(why(['app'], 20 * GB + RESERVE + 1)).toBeNull();
    expect(why(['base'], 15 * GB)).toBeNull();
  });
});

const node = (...conditions: { type: string; status: string }[]) => ({ status: { conditions } });
const ready = { type: 'Ready', status: 'True' };

describe('the health of a Node', () => {
  it.each([
    ['Ready', node(ready), { isReady: true, hasDiskPressure: false }],
    ['not Ready', node({ ...ready, status: 'False' }), { isReady: false, hasDiskPressure: false }],
    ['without a recent heartbeat', node({ ...ready, status: 'Unknown' }), { isReady: false, hasDiskPressure: false }],
    ['full', node(ready, { type: 'DiskPressure', status: 'True' }), { isReady: true, hasDiskPressure: true }],
    ['nothing', {}, { isReady: false, hasDiskPressure: false }],
    ['no Node', undefined, { isReady: false, hasDiskPressure: false }],
  ])('%s', (_, object, expected) => {
    expect(readNodeHealth(object)).toEqual(expected);
  });
});

describe('the start of a machine', () => {
  it('is always at the same moment, and spread over the whole time for many machines', () => {
    const delays = Array.from({ length: 200 }, (_, index) => computeStartDelayMs(`worker-${index}`, 10_000));
    expect(delays).toEqual(Array.from({ length: 200 }, (_, index) => computeStartDelayMs(`worker-${index}`, 10_000)));
    const seconds = new Set(delays.map((delay) => Math.floor(delay / 1000)));
    expect(seconds.size).toBe(10);
    expect(Math.max(...delays)).toBeLessThan(10_000);
  });

  it('is immediate without a spread', () => {
    expect(computeStartDelayMs('worker-1', 0)).toBe(0);
  });
});
