import { machineConfigNodeKind, validate } from '@slipway/api';
import type { PinProgress, SizedImage } from '@slipway/fleet';
import { describe, expect, it } from 'vitest';
import {
  addSample,
  describeProblems,
  listImageProblems,
  type PinSnapshot,
  computePinStatus,
  toPinProblem,
  findSetProblem,
  computeRate,
  type RateSample,
  type SetState,
  type SnapshotInput,
  buildSnapshot,
} from './report.ts';
import type { Attempts } from './retry.ts';
import { buildImageName, buildPresent, buildSet } from './testing/sample-sets.ts';

const image = (...layers: [string, number][]): SizedImage => ({
  layers: layers.map(([digest, size]) => ({ digest, size })),
});
const sizes = new Map([
  [buildImageName('a'), image(['base', 100], ['a', 10])],
  [buildImageName('b'), image(['base', 100], ['b', 20])],
  [buildImageName('c'), image(['c', 30])],
]);
const [s, t] = [buildSet('s', ['a', 'b'], 2), buildSet('t', ['b', 'c'])];
const input: SnapshotInput = {
  wanted: [s, t],
  unknown: new Set(),
  pinned: [],
  present: buildPresent('a'),
  sizes,
  problems: [],
  bytesPerSecond: 10,
  waitsFor: '',
  lastError: '',
  store: null,
};

describe('the reported images of a node', () => {
  it('are counted by set, and shared bytes count once', () => {
    const { progress, isWorking } = buildSnapshot(input);
    expect(isWorking).toBe(true);
    expect(progress).toMatchObject({
      sets: [
        { name: 's', images: { done: 1, total: 2 }, bytes: { done: 110, total: 130 } },
        // The base arrived with an image of the other set.
        { name: 't', images: { done: 0, total: 2 }, bytes: { done: 100, total: 150 } },
      ],
      bytes: { done: 110, total: 160 },
      secondsLeft: 5,
    });
  });

  it('are complete when all are present and pinned, and not earlier', () => {
    const present = buildPresent('a', 'b', 'c');
    expect(buildSnapshot({ ...input, present, pinned: [s] }).isWorking).toBe(true);
    expect(buildSnapshot({ ...input, present, pinned: [s, t] })).toMatchObject({
      isWorking: false,
      progress: { bytesPerSecond: null, secondsLeft: null, bytes: { done: 160, total: 160 } },
    });
    expect(buildSnapshot({ ...input, present: buildPresent('a', 'b'), pinned: [s, t] }).isWorking).toBe(true);
  });

  it('have the pinned generation, which may be an earlier one, but not one of another set with the same name', () => {
    const pinned = [buildSet('s', ['a'], 1), buildSet('t', ['b'], 1, 'deleted')];
    expect(buildSnapshot({ ...input, pinned }).sets).toEqual([
      { name: 's', desiredGeneration: 2, currentGeneration: 1, failure: null },
      { name: 't', desiredGeneration: 1, currentGeneration: null, failure: null },
    ]);
  });

  it('have no unknown bytes, and no time that cannot be estimated', () => {
    const { progress } = buildSnapshot({ ...input, sizes: new Map(), bytesPerSecond: null });
    expect(progress).toMatchObject({ bytes: null, secondsLeft: null, sets: [{ bytes: null }, { bytes: null }] });
  });

  it('are incomplete while a set cannot be read', () => {
    const all = { ...input, wanted: [], unknown: new Set(['s']) };
    expect(buildSnapshot(all).isWorking).toBe(true);
  });
});

const now = new Date('2026-01-02T03:04:05Z');
const progress: PinProgress = {
  sets: [{ name: 's', images: { done: 1, total: 2 }, bytes: null }],
  bytes: null,
  bytesPerSecond: null,
  secondsLeft: null,
  waitsFor: '',
  lastError: '',
  store: { free: 50_000_123, size: 100_000_777 },
};
const standing: SetState = { name: 's', desiredGeneration: 3, currentGeneration: 2, failure: null };
const snapshot: PinSnapshot = { sets: [standing], progress, isWorking: true, problem: '', problemKey: '' };
const FAILED = 'SLW_PINNING_PULL: PinnedImageSet s, image x: manifest unknown';

const validateStatus = ({ conditions, pinnedImageSets }: ReturnType<typeof computePinStatus>['last']) =>
  validate(machineConfigNodeKind, {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfigNode',
    metadata: { name: 'n1' },
    spec: { node: { name: 'n1' }, pool: { name: 'worker' }, configVersion: { desired: 'rendered-worker-2' } },
    status: { conditions, ...(pinnedImageSets !== null && { pinnedImageSets }) },
  });

describe('the status of a node with pinned images', () => {
  it('reports current work, pinned sets and progress', () => {
    const { first, last } = computePinStatus({}, snapshot, now);
    expect(first).toBeNull();
    expect(last).toMatchObject({
      conditions: [
        { type: 'PinnedImageSetsProgressing', status: 'True', reason: 'ImagePrefetch' },
        { type: 'PinnedImageSetsDegraded', status: 'False', reason: 'AsExpected', message: '' },
      ],
      pinnedImageSets: [{ name: 's', desiredGeneration: 3, currentGeneration: 2 }],
    });
    expect(last.conditions[0]?.message).toContain('1 of 2 images');
    expect(validateStatus(last)).toMatchObject({ ok: true });
  });

  it('reports failures, by set and for the node', () => {
    const sets = [{ ...standing, failure: FAILED }];
    const { last } = computePinStatus({}, { ...snapshot, sets, problem: FAILED, problemKey: 'x' }, now);
    expect(last).toMatchObject({
      conditions: [{}, { status: 'True', reason: 'PrefetchFailed', message: FAILED }],
      pinnedImageSets: [{ lastFailedGeneration: 3, lastFailedGenerationError: FAILED }],
    });
    expect(validateStatus(last)).toMatchObject({ ok: true });
  });

  const failed3 = { lastFailedGeneration: 3, lastFailedGenerationError: FAILED };
  it.each<[string, Partial<SetState>, object]>([
    ['stays while it is retried after a restart', {}, failed3],
    [
      'has no error any more once it is pinned',
      { currentGeneration: 3 },
      { ...failed3, lastFailedGenerationError: '' },
    ],
    ['stays while the next generation is pulled', { desiredGeneration: 4 }, failed3],
    [
      'has no error any more once the next one is pinned',
      { desiredGeneration: 4, currentGeneration: 4 },
      { ...failed3, lastFailedGenerationError: '' },
    ],
    [
      'is replaced when the next one fails',
      { desiredGeneration: 4, failure: 'SLW_X: y' },
      { lastFailedGeneration: 4, lastFailedGenerationError: 'SLW_X: y' },
    ],
    ['is not that of a recreated set', { desiredGeneration: 2, currentGeneration: null }, {}],
  ])('the last failed generation %s', (_, more, expected) => {
    const failing = { ...snapshot, sets: [{ ...standing, failure: FAILED }] };
    const before = toStatus(computePinStatus({}, failing, now).last);
    const next = { ...snapshot, sets: [{ ...standing, ...more }] };
    const { last } = computePinStatus({ status: before }, next, now);
    const { desiredGeneration, currentGeneration } = next.sets[0] ?? standing;
    const generations = { desiredGeneration, ...(currentGeneration !== null && { currentGeneration }) };
    expect(last.pinnedImageSets).toEqual([{ name: 's', ...generations, ...expected }]);
    expect(validateStatus(last)).toMatchObject({ ok: true });
    // The same state is not written again.
    expect(computePinStatus({ status: toStatus(last) }, next, now).last).toEqual(last);
  });

  it('is AsExpected without an assignment, and the list is removed', () => {
    const before = computePinStatus({}, snapshot, now).last;
    const { last } = computePinStatus({ status: toStatus(before) }, null, now);
    expect(last).toMatchObject({ pinnedImageSets: null });
    expect(last.conditions).toMatchObject([
      { status: 'False', reason: 'AsExpected', message: '' },
      { status: 'False', reason: 'AsExpected', message: '' },
    ]);
  });

  it.each<[string, Partial<SetState>]>([
    ['desired', { desiredGeneration: 1, currentGeneration: null }],
    ['current', { desiredGeneration: 3, currentGeneration: 1 }],
  ])('of a recreated set, with a lower %s generation, is written without it first', (_, more) => {
    const before = computePinStatus({}, { ...snapshot, sets: [standing, { ...standing, name: 't' }] }, now).last;
    const next = {
      ...snapshot,
      sets: [
        { ...standing, ...more },
        { ...standing, name: 't' },
      ],
    };
    const { first, last } = computePinStatus({ status: toStatus(before) }, next, now);
    expect(first?.pinnedImageSets).toMatchObject([{ name: 't' }]);
    expect(last.pinnedImageSets).toMatchObject([{ name: 's' }, { name: 't' }]);
  });

  it('does not change for a small change of free space, as after a restart', () => {
    const before = computePinStatus({}, snapshot, now).last;
    const later = { ...snapshot, progress: { ...progress, store: { free: 49_000_111, size: 100_000_777 } } };
    expect(computePinStatus({ status: toStatus(before) }, later, now).last).toEqual(before);
    const moved = { ...snapshot, progress: { ...progress, store: { free: 30_000_111, size: 100_000_777 } } };
    expect(computePinStatus({ status: toStatus(before) }, moved, now).last).not.toEqual(before);
  });

  it('is accepted by the API with the maximum number of sets and the longest names', () => {
    const names = Array.from({ length: 100 }, (_, index) => `${'n'.repeat(50)}.${'m'.repeat(50)}.s${index}`);
    const sets = names.map((name) => ({ ...standing, name, failure: FAILED }));
    const many = { ...progress, sets: names.map((name) => ({ name, images: { done: 1, total: 500 }, bytes: null })) };
    const { last } = computePinStatus({}, { ...snapshot, sets, progress: many, problem: FAILED }, now);
    expect(validateStatus(last)).toMatchObject({ ok: true });
  });
});

const toStatus = ({ conditions, pinnedImageSets }: ReturnType<typeof computePinStatus>['last']) => ({
  conditions: conditions.map((condition) => ({ reason: '', message: '', ...condition })),
  pinnedImageSets: [...(pinnedImageSets ?? [])],
});

const said = { code: 'SLW_PINNING_PULL', message: 'CRI-O said: manifest unknown' };
const failedImage: Attempts = { tries: 5, firstAt: 0, lastAt: 15_000, notBefore: 60_000, problem: said };
const tried: Attempts = { ...failedImage, tries: 1, lastAt: 0 };
const wanted = [buildSet('s', ['a', 'b']), buildSet('t', ['b', 'c'])];

describe('the problems with images', () => {
  it('name the sets, the image, the error, the code, and what to do', () => {
    const problems = listImageProblems(wanted, buildPresent('a'), new Map([[buildImageName('b'), failedImage]]));
    expect(problems).toMatchObject([{ code: said.code, sets: ['s', 't'] }]);
    const text = describeProblems(problems);
    for (const part of [
      'SLW_PINNING_PULL',
      'PinnedImageSet s, t',
      buildImageName('b'),
      said.message,
      'remove it from the set',
    ])
      expect(text).toContain(part);
  });

  it('exclude images that are still retried, or present after all', () => {
    expect(listImageProblems(wanted, buildPresent(), new Map([[buildImageName('b'), tried]]))).toEqual([]);
    expect(listImageProblems(wanted, buildPresent('b'), new Map([[buildImageName('b'), failedImage]]))).toEqual([]);
  });

  it('are reported for the affected set only', () => {
    const problems = listImageProblems(wanted, buildPresent(), new Map([[buildImageName('a'), failedImage]]));
    expect(findSetProblem(problems, 's')).toContain(buildImageName('a'));
    expect(findSetProblem(problems, 't')).toBeNull();
  });

  it('stay short, however many images fail and however long the errors are', () => {
    const words = Array.from({ length: 300 }, (_, index) => index.toString(16).padStart(3, '0'));
    const long: Attempts = { ...failedImage, problem: { ...said, message: 'x'.repeat(5000) } };
    const problems = listImageProblems(
      [buildSet('s', words)],
      new Set(),
      new Map(words.map((word) => [buildImageName(word), long])),
    );
    const text = describeProblems(problems);
    expect(text.length).toBeLessThan(4000);
    expect(text).toMatch(/297 more images failed$/);
  });

  it('are the same if only their numbers differ', () => {
    const full = (free: string) => toPinProblem({ code: 'SLW_PINNING_WOULD_NOT_FIT', message: free }, ['s']);
    expect(full('1 GB').key).toBe(full('2 GB').key);
  });
});

const after = (...samples: [seconds: number, bytes: number][]): readonly RateSample[] =>
  samples.reduce<readonly RateSample[]>((list, [at, bytes]) => addSample(list, { at: at * 1000, bytes }), []);

describe('the rate of pulls', () => {
  it.each<[string, readonly RateSample[], number, number | null]>([
    ['is unknown without samples', [], 10, null],
    ['is unknown with one', after([0, 0]), 10, null],
    ['is unknown at first', after([0, 0], [1, 1000]), 1, null],
    ['is bytes per elapsed time', after([0, 0], [5, 1000]), 10, 100],
    ['covers the last minute', after([0, 0], [30, 60_000], [100, 66_000]), 120, 100],
    ['is unknown if nothing arrived for a minute', after([0, 0], [5, 1000]), 70, null],
    ['starts again if there are fewer bytes than before', after([0, 5000], [10, 1000], [20, 2000]), 20, 100],
  ])('%s', (_, samples, now, expected) => {
    expect(computeRate(samples, now * 1000)).toBe(expected);
  });

  it('few samples are kept, however many images arrive', () => {
    let samples: readonly RateSample[] = [];
    for (let at = 0; at < 1000; at += 1) samples = addSample(samples, { at: at * 1000, bytes: at });
    expect(samples.length).toBeLessThan(70);
  });
});
