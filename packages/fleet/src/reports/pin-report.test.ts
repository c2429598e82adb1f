import { describe, expect, it } from 'vitest';
import { type SamplePinNode, samplePins, sampleProgress, sampleSet } from '../testing/sample-pins.ts';
import { pinReport, type PoolPins } from './pin-report.ts';

const shop = sampleSet('shop', 4, 2);
const told = [shop];
const amount = (done: number, total: number) => ({ done, total });

function firstPool(...args: Parameters<typeof samplePins>): PoolPins {
  const [pool] = pinReport(samplePins(...args), null, null).pools;
  if (pool === undefined) throw new Error('no pool');
  return pool;
}
const nodeIn = (node: SamplePinNode | null) => firstPool({ sets: told, nodes: { w: node } }).nodes[0];
const pulling: SamplePinNode = {
  told,
  isPulling: true,
  progress: {
    sets: [{ name: 'shop', images: amount(1, 4), bytes: amount(100, 400) }],
    bytes: amount(100, 400),
    bytesPerSecond: 50,
    secondsLeft: 6,
  },
};
const pinned: SamplePinNode = {
  told,
  held: { shop: 2 },
  progress: { sets: [{ name: 'shop', images: amount(4, 4), bytes: amount(400, 400) }], bytes: amount(400, 400) },
};

describe('a machine and the images of its pool', () => {
  it.each<[string, SamplePinNode | null, object]>([
    [
      'has not started while its daemon reports nothing',
      null,
      { phase: 'not begun', images: amount(0, 4), bytes: null },
    ],
    ['has not started if it was assigned sets and has not reported', { told }, { phase: 'not begun' }],
    [
      'is pulling, with images, bytes, rate and time left',
      pulling,
      { phase: 'pulling', images: amount(1, 4), bytes: amount(100, 400), bytesPerSecond: 50, secondsLeft: 6 },
    ],
    [
      'waits, with the reason',
      { ...pulling, progress: { ...pulling.progress, waitsFor: 'its turn' } },
      { phase: 'waiting', waitsFor: 'its turn' },
    ],
    ['is pinned when it holds the newest generation', pinned, { phase: 'pinned', images: amount(4, 4) }],
    [
      'is not pinned when it holds an older one',
      { ...pulling, held: { shop: 1 } },
      { phase: 'pulling', sets: [{ name: 'shop', generation: 1, isHeld: false }] },
    ],
    [
      'is degraded if something keeps failing, with the reason',
      { ...pulling, failing: ['shop'], failure: 'shop: image x: denied [SLW_PINNING_PULL]' },
      { phase: 'degraded', lastError: 'shop: image x: denied [SLW_PINNING_PULL]' },
    ],
    [
      'that pulls again after an error is not degraded, but reports the error',
      { ...pulling, progress: { ...pulling.progress, lastError: 'timeout' } },
      { phase: 'pulling', lastError: 'timeout' },
    ],
    [
      'with an unreadable report is judged by the generations that it has pinned',
      { told, held: { shop: 2 } },
      { phase: 'pinned', images: amount(4, 4), bytes: null },
    ],
  ])('%s', (_, node, expected) => {
    expect(nodeIn(node)).toMatchObject(expected);
  });

  it('does not count as pinned because of a deleted set of the same name', () => {
    const again = { ...shop, metadata: { ...shop.metadata, uid: 'another' } };
    expect(firstPool({ sets: [again], nodes: { w: pinned } }).nodes[0]).toMatchObject({ phase: 'not begun' });
  });
});

describe('a pool and its images', () => {
  it('adds up its machines and estimates when the last one is done', () => {
    const slower = {
      ...pulling,
      progress: sampleProgress({ ...pulling.progress, bytesPerSecond: 10, secondsLeft: 30 }),
    };
    expect(firstPool({ sets: told, nodes: { a: pinned, b: pulling, c: slower, d: pulling } })).toMatchObject({
      machines: { total: 4, pinned: 1, pulling: 3, waiting: 0, degraded: 0, notBegun: 0 },
      images: amount(7, 16),
      bytes: amount(700, 1600),
      bytesPerSecond: 110,
      secondsLeft: 30,
      sets: [
        { name: 'shop', generation: 2, images: 4, isMatched: true, nodes: amount(1, 4), bytes: amount(700, 1600) },
      ],
      problems: [],
    });
  });

  it('has no total if the bytes of some machines are not known', () => {
    expect(firstPool({ sets: told, nodes: { a: pulling, b: null } })).toMatchObject({
      bytes: null,
      images: amount(1, 8),
    });
  });

  it('has the limit of its policy, and no machines if it has no sets', () => {
    expect(firstPool({ sets: [], nodes: { a: null }, maxPulling: '10%' })).toMatchObject({
      maxPulling: '10%',
      machines: { total: 0 },
      sets: [],
      nodes: [],
      problems: [],
    });
  });

  it('reports a named set that does not exist, and a matching one that is not named yet', () => {
    const { problems, machines } = firstPool({
      sets: [shop, sampleSet('new')],
      named: ['shop', 'gone'],
      nodes: { a: pinned },
    });
    expect(problems).toEqual([
      expect.stringMatching(/names PinnedImageSet gone, which does not exist/),
      expect.stringMatching(/PinnedImageSet new matches the pool, but the controller/),
    ]);
    expect(machines.pinned).toBe(1);
  });

  it('is omitted if only others are requested', () => {
    expect(pinReport(samplePins({ sets: told, nodes: {} }), null, new Set(['infra'])).pools).toEqual([]);
  });
});
