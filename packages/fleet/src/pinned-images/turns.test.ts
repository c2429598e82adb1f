import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byName, samplePinPool, sampleSet } from './testing/sample.ts';
import type { PinPool } from './pin-facts.ts';
import { chooseTurns, maxPullingProblem, type Waiting } from './turns.ts';

const set = sampleSet('release');
const limited = (maxPulling: string | undefined) => byName(samplePinPool('worker', [set], { maxPulling }));
const NOTHING: ReadonlySet<string> = new Set();
const waiting = (name: string, more: Partial<Waiting> = {}): Waiting => ({
  name,
  pools: ['worker'],
  isReady: true,
  failure: null,
  failingSince: null,
  lacks: new Set([set.name]),
  hasTurn: false,
  ...more,
});
/** One machine of each pool has pulled the set. */
const proof = waiting('proof', { pools: ['worker', 'infra', 'master'], lacks: NOTHING });
const listTurns = (nodes: readonly Waiting[], maxPulling: string | undefined, now = 0): string[] =>
  [...chooseTurns([...nodes, proof], limited(maxPulling), now).turns].filter((name) => name !== proof.name).sort();

const four = ['a', 'b', 'c', 'd'].map((name) => waiting(name));
const where = (name: string, more: Partial<Waiting>): Waiting[] =>
  four.map((node) => (node.name === name ? { ...node, ...more } : node));

describe('the machines that may pull', () => {
  it('are a fifth of the pool by default, at least five', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => waiting(`n${index}`));
    expect([4, 5, 6, 30, 100].map((count) => listTurns(many(count), undefined).length)).toEqual([4, 5, 5, 6, 20]);
  });

  it('are one at a time in a control plane by default', () => {
    const pools = byName(samplePinPool('master', [set], { isControlPlane: true }));
    const masters = ['a', 'b', 'c'].map((name) => waiting(name, { pools: ['master'] }));
    expect([...chooseTurns([...masters, proof], pools, 0).turns]).toEqual(['proof', 'a']);
  });

  it('do not need a slot in a pool whose sets they have', () => {
    const pools = byName(samplePinPool('worker', [set], { maxPulling: '1' }), samplePinPool('infra', [sampleSet('x')]));
    const both = waiting('a', { pools: ['worker', 'infra'], lacks: new Set(['x']) });
    expect([...chooseTurns([both, waiting('b'), waiting('c'), proof], pools, 0).turns]).toEqual(['proof', 'a', 'b']);
  });

  it.each([
    ['2', ['a', 'b']],
    ['50%', ['a', 'b']],
    ['20%', ['a']],
    ['100', ['a', 'b', 'c', 'd']],
    ['many', ['a']],
    ['0', ['a']],
  ])('are limited by %s, in the order of their names', (maxPulling, names) => {
    expect(listTurns(four, maxPulling)).toEqual(names);
  });

  it('are first those that have a slot, then those that wait', () => {
    expect(listTurns(where('c', { hasTurn: true }), '1')).toEqual(['c']);
  });

  it('include the next one when one is finished, and the finished one may repair its images', () => {
    expect(listTurns(where('a', { lacks: NOTHING, hasTurn: true }), '1')).toEqual(['a', 'b']);
  });

  it.each<[string, Partial<Waiting>]>([
    ['fails', { failure: 'no such image', hasTurn: true }],
    ['is out of service', { isReady: false, hasTurn: true }],
  ])('include the next one when one %s, which comes last', (_, trouble) => {
    expect(listTurns(where('a', trouble), '1')).toEqual(['b']);
    expect(listTurns([waiting('a', trouble), waiting('b', { lacks: NOTHING })], '1')).toEqual(['a', 'b']);
  });

  it('rotate among those that fail, so that one that could finish gets its chance', () => {
    const failing = ['a', 'b', 'c'].map((name) => waiting(name, { failure: 'no such image' }));
    const minute = 60_000;
    const seen = [0, 5, 10, 15].map((at) => listTurns(failing, '1', at * minute).join());
    expect(seen).toEqual(['a', 'b', 'c', 'a']);
    expect(chooseTurns(failing, limited('1'), 7 * minute).lookAgainAt).toBe(10 * minute);
    expect(chooseTurns([...failing, proof], limited('3'), 0).lookAgainAt).toBeNull();
    expect(chooseTurns(four, limited('1'), 0).lookAgainAt).toBeNull();
  });

  it('need a slot in every pool of the machine', () => {
    const pools = byName(
      samplePinPool('worker', [set], { maxPulling: '2' }),
      samplePinPool('infra', [set], { maxPulling: '1' }),
    );
    const both = (name: string): Waiting => waiting(name, { pools: ['worker', 'infra'] });
    expect([...chooseTurns([both('a'), both('b'), waiting('c'), proof], pools, 0).turns]).toEqual(['proof', 'a', 'c']);
  });

  it('never exceed a limit, are never none while one waits, and end with all finished', () => {
    fc.assert(
      fc.property(fleet, ({ nodes, worker, infra }) => {
        const pools = byName(
          samplePinPool('worker', [set], { maxPulling: String(worker) }),
          samplePinPool('infra', [set], { maxPulling: String(infra) }),
        );
        let now: readonly Waiting[] = nodes;
        for (let round = 0; now.some(({ lacks }) => lacks.size > 0); round += 1) {
          expect(round).toBeLessThanOrEqual(nodes.length);
          const { turns } = chooseTurns(now, pools, round * 300_000);
          const pulling = now.filter(({ name, lacks }) => lacks.size > 0 && turns.has(name));
          expect(pulling.length).toBeGreaterThan(0);
          expect(pulling.filter((node) => node.pools.includes('worker')).length).toBeLessThanOrEqual(worker);
          expect(pulling.filter((node) => node.pools.includes('infra')).length).toBeLessThanOrEqual(infra);
          // A machine that has started continues.
          const healthy = now.filter(
            (node) => node.hasTurn && node.isReady && node.failure === null && node.lacks.size > 0,
          );
          expect(round === 0 || healthy.every(({ name }) => turns.has(name))).toBe(true);
          const [first] = pulling;
          now = now.map((node) =>
            Object.assign({}, node, {
              hasTurn: turns.has(node.name),
              lacks: node.name === first?.name ? NOTHING : node.lacks,
            }),
          );
        }
      }),
    );
  });
});

const FULL = 'SLW_PINNING_NO_SPACE: PinnedImageSet release: the free space fell to 2 GB';
const isPulling = ({ lacks }: Waiting): boolean => lacks.size > 0;

describe('a set that no machine of the pool has yet', () => {
  const turnsOf = (nodes: readonly Waiting[], more: Partial<PinPool> = {}, now = 0): string[] =>
    [...chooseTurns(nodes, byName(samplePinPool('worker', [set], more)), now).turns].sort();

  it('is pulled by one machine first, whatever the limit', () => {
    expect(turnsOf(four)).toEqual(['a']);
    expect(turnsOf(four, { maxPulling: '100%' })).toEqual(['a']);
    expect(turnsOf(where('a', { lacks: NOTHING }))).toEqual(['a', 'b', 'c', 'd']);
  });

  const minute = 60_000;
  const failing = { failure: 'SLW_PINNING_PULL: manifest unknown', failingSince: 60 * minute, hasTurn: true };

  it.each([false, true])(
    'is pulled by the first one alone for five minutes although an image fails, then by the next one alone, control plane: %s',
    (isControlPlane) => {
      const pools = byName(samplePinPool('worker', [set], { isControlPlane, maxPulling: '100%' }));
      const choose = (now: number) => chooseTurns(where('a', failing), pools, now);
      expect([...choose(60 * minute).turns]).toEqual(['a']);
      expect([...choose(65 * minute - 1).turns]).toEqual(['a']);
      expect(choose(62 * minute).lookAgainAt).toBe(65 * minute);
      expect([...choose(65 * minute).turns]).toEqual(['b']);
      // The clock of the machine is ahead.
      expect([...choose(59 * minute).turns]).toEqual(['a']);
      expect([...choose(0).turns]).toEqual(['b']);
    },
  );

  it('is pulled by the next one alone, at once, if the first one is too small for it or out of service', () => {
    const small = { ...failing, failure: 'SLW_PINNING_WOULD_NOT_FIT: the missing images need 50 GB' };
    expect(turnsOf(where('a', small), {}, 60 * minute)).toEqual(['b']);
    expect(turnsOf(where('a', { ...failing, isReady: false }), {}, 60 * minute)).toEqual(['b']);
  });

  it('is pulled by one machine first although all of them fail because of another set', () => {
    const nodes = ['a', 'b', 'c', 'd'].map((name) =>
      waiting(name, { failure: 'SLW_PINNING_PULL: PinnedImageSet old', failingSince: 0 }),
    );
    expect(turnsOf(nodes, {}, 60 * minute)).toHaveLength(1);
  });

  it.each([false, true])(
    'is pulled by no other machine if the first one runs out of space, control plane: %s',
    (is) => {
      const failed = where('a', { failure: FULL, hasTurn: true });
      expect(turnsOf(failed, { isControlPlane: is })).toEqual(['a']);
      expect(turnsOf(failed, { isControlPlane: is, maxPulling: '100%' })).toEqual(['a']);
    },
  );
});

describe('a machine that runs out of space', () => {
  const turnsOf = (nodes: readonly Waiting[]): string[] =>
    [...chooseTurns([...nodes, proof], limited(undefined), 0).turns].sort();

  it('tries again, those that pull continue, and no other machine starts', () => {
    const nodes = [waiting('a', { failure: FULL }), waiting('b'), waiting('c', { hasTurn: true }), waiting('d')];
    expect(turnsOf(nodes)).toEqual(['a', 'c', 'proof']);
  });

  it('holds up nothing when it is out of service, or has the sets of the pool', () => {
    expect(turnsOf(where('a', { failure: FULL, isReady: false }))).toEqual(['a', 'b', 'c', 'd', 'proof']);
    expect(turnsOf(where('a', { failure: FULL, lacks: NOTHING }))).toEqual(['a', 'b', 'c', 'd', 'proof']);
  });

  it('never lets another machine of its pools start', () => {
    fc.assert(
      fc.property(fleet, ({ nodes }) => {
        const pools = byName(samplePinPool('worker', [set]), samplePinPool('infra', [set]));
        const { turns } = chooseTurns(nodes, pools, 0);
        const held = new Set(
          nodes
            .filter((node) => node.isReady && node.failure === FULL && isPulling(node))
            .flatMap((node) => node.pools),
        );
        for (const node of nodes.filter(isPulling)) {
          if (node.hasTurn || node.failure === FULL || !node.pools.some((pool) => held.has(pool))) continue;
          expect(turns.has(node.name)).toBe(false);
        }
      }),
    );
  });
});

const fleet: fc.Arbitrary<{ worker: number; infra: number; nodes: Waiting[] }> = fc.record({
  worker: fc.integer({ min: 1, max: 4 }),
  infra: fc.integer({ min: 1, max: 4 }),
  nodes: fc
    .array(
      fc.record({
        pools: fc.constantFrom<string[][]>(['worker'], ['infra'], ['worker', 'infra']),
        isReady: fc.boolean(),
        failure: fc.constantFrom(null, 'no such image', FULL),
        failingSince: fc.constantFrom(null, 0),
        lacks: fc.constantFrom(NOTHING, new Set([set.name])),
        hasTurn: fc.boolean(),
      }),
      { maxLength: 8 },
    )
    .map((nodes) => nodes.map((node, index) => Object.assign(node, { name: `n${index}` }))),
});

describe('an invalid limit', () => {
  it.each(['', 'ten', '-1', '0', '0%', '1.5', '10 %', '9999999'])('is a problem: %j', (maxPulling) => {
    expect(maxPullingProblem(samplePinPool('worker', [], { maxPulling }))).toMatchObject({
      code: 'SLW_PIN_MAX_PULLING',
      message: expect.stringContaining(`found ${JSON.stringify(maxPulling)}`),
    });
  });

  it.each([undefined, '1', '10%', ' 5 ', '100%'])('is not: %j', (maxPulling) => {
    expect(maxPullingProblem(samplePinPool('worker', [], { maxPulling }))).toBeNull();
  });
});
