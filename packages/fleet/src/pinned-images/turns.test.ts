import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byName, samplePinPool, sampleSet } from './testing/sample.ts';
import { chooseTurns, maxPullingProblem, type Waiting } from './turns.ts';

const set = sampleSet('release');
const limited = (maxPulling: string | undefined) => byName(samplePinPool('worker', [set], { maxPulling }));
const waiting = (name: string, more: Partial<Waiting> = {}): Waiting => ({
  name,
  pools: ['worker'],
  isReady: true,
  failure: null,
  isDone: false,
  hasTurn: false,
  ...more,
});
const listTurns = (nodes: readonly Waiting[], maxPulling: string | undefined, now = 0): string[] =>
  [...chooseTurns(nodes, limited(maxPulling), now).turns].sort();

const four = ['a', 'b', 'c', 'd'].map((name) => waiting(name));
const where = (name: string, more: Partial<Waiting>): Waiting[] =>
  four.map((node) => (node.name === name ? { ...node, ...more } : node));

describe('the machines that may pull', () => {
  it('are all if the pool has no limit', () => {
    expect(listTurns(four, undefined)).toEqual(['a', 'b', 'c', 'd']);
  });

  it.each([
    ['2', ['a', 'b']],
    ['50%', ['a', 'b']],
    ['10%', ['a']],
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
    expect(listTurns(where('a', { isDone: true, hasTurn: true }), '1')).toEqual(['a', 'b']);
  });

  it.each<[string, Partial<Waiting>]>([
    ['fails', { failure: 'no such image', hasTurn: true }],
    ['is out of service', { isReady: false, hasTurn: true }],
  ])('include the next one when one %s, which comes last', (_, trouble) => {
    expect(listTurns(where('a', trouble), '1')).toEqual(['b']);
    expect(listTurns([waiting('a', trouble), waiting('b', { isDone: true })], '1')).toEqual(['a', 'b']);
  });

  it('rotate among those that fail, so that one that could finish gets its chance', () => {
    const failing = ['a', 'b', 'c'].map((name) => waiting(name, { failure: 'disk full' }));
    const minute = 60_000;
    const seen = [0, 5, 10, 15].map((at) => listTurns(failing, '1', at * minute).join());
    expect(seen).toEqual(['a', 'b', 'c', 'a']);
    expect(chooseTurns(failing, limited('1'), 7 * minute).lookAgainAt).toBe(10 * minute);
    expect(chooseTurns(failing, limited('3'), 0).lookAgainAt).toBeNull();
    expect(chooseTurns(four, limited('1'), 0).lookAgainAt).toBeNull();
  });

  it('need a slot in every pool of the machine', () => {
    const pools = byName(
      samplePinPool('worker', [set], { maxPulling: '2' }),
      samplePinPool('infra', [set], { maxPulling: '1' }),
    );
    const both = (name: string): Waiting => waiting(name, { pools: ['worker', 'infra'] });
    expect([...chooseTurns([both('a'), both('b'), waiting('c')], pools, 0).turns]).toEqual(['a', 'c']);
  });

  it('never exceed a limit, are never none while one waits, and end with all finished', () => {
    fc.assert(
      fc.property(fleet, ({ nodes, worker, infra }) => {
        const pools = byName(
          samplePinPool('worker', [set], { maxPulling: String(worker) }),
          samplePinPool('infra', [set], { maxPulling: String(infra) }),
        );
        let now: readonly Waiting[] = nodes;
        for (let round = 0; now.some(({ isDone }) => !isDone); round += 1) {
          expect(round).toBeLessThanOrEqual(nodes.length);
          const { turns } = chooseTurns(now, pools, round * 300_000);
          const pulling = now.filter(({ name, isDone }) => !isDone && turns.has(name));
          expect(pulling.length).toBeGreaterThan(0);
          expect(pulling.filter((node) => node.pools.includes('worker')).length).toBeLessThanOrEqual(worker);
          expect(pulling.filter((node) => node.pools.includes('infra')).length).toBeLessThanOrEqual(infra);
          // A machine that has started continues.
          const healthy = now.filter((node) => node.hasTurn && node.isReady && node.failure === null && !node.isDone);
          expect(round === 0 || healthy.every(({ name }) => turns.has(name))).toBe(true);
          const [first] = pulling;
          now = now.map((node) =>
            Object.assign({}, node, {
              hasTurn: turns.has(node.name),
              isDone: node.isDone || node.name === first?.name,
            }),
          );
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
        failure: fc.constantFrom(null, 'no such image'),
        isDone: fc.boolean(),
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
