import { machineConfigNodeKind, validate } from '@slipway/api';
import type { PinProgress } from '@slipway/fleet';
import { describe, expect, it } from 'vitest';
import type { PinSnapshot, SetStanding } from './pin-snapshot.ts';
import { pinStatusOf } from './pin-status.ts';

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
const standing: SetStanding = { name: 's', desiredGeneration: 3, currentGeneration: 2, failure: null };
const snapshot: PinSnapshot = { sets: [standing], progress, isWorking: true, problem: '', problemKey: '' };
const failed = 'SLW_PINNING_PULL: PinnedImageSet s, image x: manifest unknown';

const problemsOf = ({ conditions, pinnedImageSets }: ReturnType<typeof pinStatusOf>['last']) =>
  validate(machineConfigNodeKind, {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfigNode',
    metadata: { name: 'n1' },
    spec: { node: { name: 'n1' }, pool: { name: 'worker' }, configVersion: { desired: 'rendered-worker-2' } },
    status: { conditions, ...(pinnedImageSets !== null && { pinnedImageSets }) },
  });

describe('the status of a node with pinned images', () => {
  it('says what it works on, what it has, and how far it is', () => {
    const { first, last } = pinStatusOf({}, snapshot, now);
    expect(first).toBeNull();
    expect(last).toMatchObject({
      conditions: [
        { type: 'PinnedImageSetsProgressing', status: 'True', reason: 'ImagePrefetch' },
        { type: 'PinnedImageSetsDegraded', status: 'False', reason: 'AsExpected', message: '' },
      ],
      pinnedImageSets: [{ name: 's', desiredGeneration: 3, currentGeneration: 2 }],
    });
    expect(last.conditions[0]?.message).toContain('1 of 2 images');
    expect(problemsOf(last)).toMatchObject({ ok: true });
  });

  it('says what failed, by set and for the node', () => {
    const sets = [{ ...standing, failure: failed }];
    const { last } = pinStatusOf({}, { ...snapshot, sets, problem: failed, problemKey: 'x' }, now);
    expect(last).toMatchObject({
      conditions: [{}, { status: 'True', reason: 'PrefetchFailed', message: failed }],
      pinnedImageSets: [{ lastFailedGeneration: 3, lastFailedGenerationError: failed }],
    });
    expect(problemsOf(last)).toMatchObject({ ok: true });
  });

  it('is as expected when nothing is asked of the node any more, and the list is gone', () => {
    const before = pinStatusOf({}, snapshot, now).last;
    const { last } = pinStatusOf({ status: statusOf(before) }, null, now);
    expect(last).toMatchObject({ pinnedImageSets: null });
    expect(last.conditions).toMatchObject([
      { status: 'False', reason: 'AsExpected', message: '' },
      { status: 'False', reason: 'AsExpected', message: '' },
    ]);
  });

  it.each<[string, Partial<SetStanding>]>([
    ['desired', { desiredGeneration: 1, currentGeneration: null }],
    ['current', { desiredGeneration: 3, currentGeneration: 1 }],
  ])('of a set that was made anew, with a lower %s generation, is written without it first', (_, more) => {
    const before = pinStatusOf({}, { ...snapshot, sets: [standing, { ...standing, name: 't' }] }, now).last;
    const next = {
      ...snapshot,
      sets: [
        { ...standing, ...more },
        { ...standing, name: 't' },
      ],
    };
    const { first, last } = pinStatusOf({ status: statusOf(before) }, next, now);
    expect(first?.pinnedImageSets).toMatchObject([{ name: 't' }]);
    expect(last.pinnedImageSets).toMatchObject([{ name: 's' }, { name: 't' }]);
  });

  it('is the same where nothing but the free space has hardly moved, as after a restart', () => {
    const before = pinStatusOf({}, snapshot, now).last;
    const later = { ...snapshot, progress: { ...progress, store: { free: 49_000_111, size: 100_000_777 } } };
    expect(pinStatusOf({ status: statusOf(before) }, later, now).last).toEqual(before);
    const moved = { ...snapshot, progress: { ...progress, store: { free: 30_000_111, size: 100_000_777 } } };
    expect(pinStatusOf({ status: statusOf(before) }, moved, now).last).not.toEqual(before);
  });

  it('is one that the API takes with as many sets and as long names as there can be', () => {
    const names = Array.from({ length: 100 }, (_, index) => `${'n'.repeat(50)}.${'m'.repeat(50)}.s${index}`);
    const sets = names.map((name) => ({ ...standing, name, failure: failed }));
    const many = { ...progress, sets: names.map((name) => ({ name, images: { done: 1, total: 500 }, bytes: null })) };
    const { last } = pinStatusOf({}, { ...snapshot, sets, progress: many, problem: failed }, now);
    expect(problemsOf(last)).toMatchObject({ ok: true });
  });
});

const statusOf = ({ conditions, pinnedImageSets }: ReturnType<typeof pinStatusOf>['last']) => ({
  conditions: conditions.map((condition) => ({ reason: '', message: '', ...condition })),
  pinnedImageSets: [...(pinnedImageSets ?? [])],
});
