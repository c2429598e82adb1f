import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PinNode, readPinReport } from './pin-facts.ts';
import { decodeSummary, encodeSummary, type PinSummary, buildPoolPins, summarizePins } from './pool-summary.ts';
import { byName, samplePinNode, samplePinPool, sampleReport, sampleSet, sampleTold } from './testing/sample.ts';

const release = sampleSet('release', 2);
const worker = samplePinPool('worker', [release]);
const told = sampleTold([release]);
const done = (name: string): PinNode => samplePinNode(name, { told, reported: sampleReport({ release: 2 }) });
const pulling = (name: string): PinNode => samplePinNode(name, { told, reported: sampleReport({ release: 1 }) });
const failing = (name: string, failure: string): PinNode =>
  samplePinNode(name, { told, reported: sampleReport({ release: null }, 'release'), failure });
const sum = (nodes: readonly PinNode[], pool = worker, pools = byName(pool)) => summarizePins(pool, nodes, pools);

describe('the summary of a pool', () => {
  it('counts the machines that have every set, those that fail, and all', () => {
    const nodes = [done('a'), done('b'), pulling('c'), failing('d', 'SLW_PINNING_PULL: no such image')];
    expect(sum(nodes)).toEqual({
      generation: 7,
      machines: 4,
      updated: 2,
      degraded: 1,
      fullDisks: 0,
      nodes: [{ name: 'd', message: 'SLW_PINNING_PULL: no such image', isDiskFull: false }],
      problems: [],
    });
  });

  it('is empty for a pool without sets', () => {
    expect(sum([done('a')], samplePinPool('worker', []))).toBeNull();
  });

  it.each<[string, PinNode]>([
    ['has the previous generation of the set', pulling('a')],
    ['is not assigned the set', { ...done('a'), told: null }],
    ['is assigned a deleted set with that name', { ...done('a'), told: sampleTold([sampleSet('release', 2, 'old')]) }],
    ['reports nothing', samplePinNode('a', { told })],
  ])('does not count a machine that %s', (_, node) => {
    expect(sum([node])).toMatchObject({ machines: 1, updated: 0, degraded: 0 });
  });

  it('counts a machine that is ahead of our view of the set', () => {
    expect(sum([samplePinNode('a', { told, reported: sampleReport({ release: 3 }) })])).toMatchObject({ updated: 1 });
  });

  it('counts only machines of the pool', () => {
    expect(sum([done('a'), { ...done('b'), pools: ['infra'] }])).toMatchObject({ machines: 1 });
  });

  it('counts a machine of two pools as failing in the pool of the failing sets', () => {
    const app = sampleSet('app');
    const infra = samplePinPool('infra', [app]);
    const pools = byName(worker, infra);
    const node = samplePinNode('n1', {
      pools: ['worker', 'infra'],
      told: sampleTold([app, release]),
      reported: sampleReport({ app: null, release: 2 }, 'app'),
      failure: 'SLW_PINNING_PULL: no such image',
    });
    expect(sum([node], worker, pools)).toMatchObject({ updated: 1, degraded: 0 });
    expect(sum([node], infra, pools)).toMatchObject({ updated: 0, degraded: 1 });
    const atLarge = { ...node, reported: sampleReport({ app: 1, release: 2 }) };
    expect(sum([atLarge], worker, pools)).toMatchObject({ updated: 0, degraded: 1 });
  });

  it.each<[string, string, number, boolean]>([
    ['counts a set as failing while it reports an error', 'manifest unknown', 1, true],
    ['does not count a set as failing that was pinned after its failure', '', 1, false],
    ['does not count a set as failing whose earlier generation failed', 'manifest unknown', 2, false],
  ])('%s', (_, lastFailedGenerationError, desiredGeneration, isFailing) => {
    const entry = { name: 'app', desiredGeneration, currentGeneration: 1, lastFailedGeneration: 1 };
    const { reported } = readPinReport({
      metadata: { name: 'n1' },
      spec: { node: { name: 'n1' }, pool: { name: 'worker' }, configVersion: { desired: 'rendered-worker-1' } },
      status: { pinnedImageSets: [{ ...entry, lastFailedGenerationError }] },
    });
    expect(reported.get('app')).toEqual({ current: 1, isFailing });
  });

  it('names the first ten of those that fail, full disks before the others', () => {
    const nodes = Array.from({ length: 12 }, (_, index) => failing(`n${10 + index}`, 'SLW_PINNING_PULL: gone'));
    const summary = sum([...nodes, failing('z', 'SLW_PINNING_NO_SPACE: image x:\n no space left')]);
    expect(summary).toMatchObject({ degraded: 13, fullDisks: 1 });
    expect(summary?.nodes.map(({ name }) => name)).toEqual(['z', ...nodes.slice(0, 9).map(({ name }) => name)]);
    expect(summary?.nodes[0]).toEqual({
      name: 'z',
      message: 'SLW_PINNING_NO_SPACE: image x: no space left',
      isDiskFull: true,
    });
  });

  it('names the problems of the pool', () => {
    const pool = samplePinPool('worker', [], { missing: ['a', 'b', 'c', 'd'], maxPulling: 'all' });
    expect(sum([], pool)?.problems).toEqual([
      { code: 'SLW_PIN_SET_MISSING', message: expect.stringContaining('found none named a, b, c and 1 more') },
      { code: 'SLW_PIN_MAX_PULLING', message: expect.stringContaining('"all"') },
    ]);
    const many = (prefix: string) => Array.from({ length: 80 }, (_, index) => sampleSet(`${prefix}${index}`));
    const crowded = byName(samplePinPool('worker', many('w')), samplePinPool('infra', many('i')));
    const node = samplePinNode('n1', { pools: ['worker', 'infra'] });
    expect(summarizePins(samplePinPool('worker', many('w')), [node], crowded)?.problems).toEqual([
      { code: 'SLW_PIN_TOO_MANY_SETS', message: expect.stringMatching(/^Node n1: .*worker and infra.*found 160/) },
    ]);
  });

  it('survives a round trip, and stays small', () => {
    fc.assert(
      fc.property(summary, (each) => {
        const text = encodeSummary(each);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8000);
        const read = decodeSummary(text);
        expect(read).toEqual({ ...each, nodes: each.nodes.slice(0, read?.nodes.length) });
      }),
    );
  });

  it.each([
    '',
    'null',
    '{}',
    '[]',
    JSON.stringify([sum([done('a')])]),
    JSON.stringify({ ...sum([done('a')]), nodes: [[]] }),
    JSON.stringify({ ...sum([done('a')]), updated: 2 }),
    JSON.stringify({ ...sum([done('a')]), fullDisks: 1 }),
    JSON.stringify({ ...sum([done('a')]), machines: -1 }),
    JSON.stringify({ ...sum([done('a')]), nodes: ['a'] }),
    JSON.stringify({ ...sum([done('a')]), problems: [{ code: 1 }] }),
  ])('is not read out of %s', (text) => expect(decodeSummary(text)).toBeNull());
});

const text = (most: number) => fc.string({ unit: 'binary', maxLength: most }).map((each) => each.toWellFormed());
const summary: fc.Arbitrary<PinSummary> = fc
  .tuple(
    fc.nat(1000),
    fc.nat(1000),
    fc.array(fc.record({ name: text(63), message: text(400), isDiskFull: fc.boolean() }), { maxLength: 10 }),
    fc.array(fc.record({ code: fc.constant('SLW_PIN_SET_MISSING' as const), message: text(150) }), { maxLength: 3 }),
  )
  .map(([updated, waiting, nodes, problems]) => ({
    generation: 7,
    machines: updated + waiting + nodes.length,
    updated,
    degraded: nodes.length,
    fullDisks: nodes.filter(({ isDiskFull }) => isDiskFull).length,
    nodes,
    problems,
  }));

describe('the status of a pool reports', () => {
  it('machines that make progress', () => {
    expect(buildPoolPins(sum([done('a'), pulling('b')]))).toEqual({
      synchronizers: [
        {
          poolSynchronizerType: 'PinnedImageSets',
          machineCount: 2,
          updatedMachineCount: 1,
          readyMachineCount: 1,
          availableMachineCount: 2,
          unavailableMachineCount: 0,
          observedGeneration: 7,
        },
      ],
      degraded: { reason: 'AsExpected', message: '' },
      full: { reason: 'AsExpected', message: '' },
    });
  });

  it('failing machines, by name and with their message', () => {
    const nodes = Array.from({ length: 12 }, (_, index) => failing(`n${10 + index}`, 'gone'));
    const { degraded, full } = buildPoolPins(sum(nodes));
    expect(degraded).toEqual({
      reason: 'PrefetchFailed',
      message: expect.stringMatching(/^Node n10 is reporting: "gone", Node n11 .*, and 2 more nodes$/),
    });
    expect(full.message).toBe('');
  });

  it('a full disk, which makes the whole pool degraded', () => {
    const { degraded, full, synchronizers } = buildPoolPins(
      sum([done('a'), failing('b', 'image x: disk full (SLW_PINNING_NO_SPACE)'), failing('c', 'gone')]),
    );
    expect(degraded.message).toContain('Node c');
    expect(full).toEqual({
      reason: 'PinnedImagesDiskFull',
      message:
        'Node b is reporting: "image x: disk full (SLW_PINNING_NO_SPACE)". Until it has space, no other machine of the pool starts to pull',
    });
    expect(synchronizers[0]).toMatchObject({ availableMachineCount: 1, unavailableMachineCount: 2 });
  });

  it('a missing set', () => {
    expect(buildPoolPins(sum([], samplePinPool('worker', [], { missing: ['a'] }))).degraded).toEqual({
      reason: 'PinnedImageSetsInvalid',
      message: expect.stringMatching(/named a\. .*\[SLW_PIN_SET_MISSING\]$/),
    });
  });

  it('nothing without sets', () => {
    expect(buildPoolPins(null)).toMatchObject({ synchronizers: [], degraded: { message: '' } });
  });
});
