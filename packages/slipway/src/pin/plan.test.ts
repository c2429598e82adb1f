import { type MachineConfigPool, type PinnedImageSet, ROLE_LABEL } from '@slipway/api';
import { takesSet } from '@slipway/fleet';
import { type SamplePins, samplePins, sampleSet } from '@slipway/fleet/testing';
import type { Stored } from '@slipway/kube';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pinPlanText } from './plan-text.ts';
import { labelsMatching, leftOver, newSets, type PinPlan, planSets } from './plan.ts';

const image = `registry.example.com/shop/app@sha256:${'a'.repeat(64)}`;
const sizes = new Map([[image, { layers: [{ digest: 'sha256:1', size: 1e9 }] }]]);
const wanted = { source: { file: 'shop.txt' }, name: 'shop', images: [image], sizes };

function planFor(pins: SamplePins, more: { gate?: { isOn: boolean; because: string } } = {}): PinPlan {
  const now = samplePins(pins);
  const [pool] = now.fleet.pools;
  if (pool === undefined) throw new Error('no pool');
  return planSets({ pool, wanted, now, gate: more.gate ?? null, dryRun: true }).plan;
}
const room = { told: [], progress: { store: { free: 8e9, size: 10e9 } } };

describe('a plan to pin images', () => {
  it('is refused for a new set if the pool already has a hundred, but not for an existing one', () => {
    const many = Array.from({ length: 100 }, (_, index) => sampleSet(`set-${index}`, 1));
    expect(() => planFor({ sets: many, nodes: {} })).toThrow(
      expect.objectContaining({
        code: 'SLW_CLI_PIN_POOL',
        message: expect.stringContaining('found 101 with the new ones'),
      }),
    );
    expect(planFor({ sets: [sampleSet('shop', 1), ...many.slice(1)], nodes: {} }).sets).toMatchObject([
      { name: 'shop', change: 'change' },
    ]);
  });

  it('notes that nothing is pulled while the gate is off', () => {
    const plan = planFor({ sets: [], nodes: {} }, { gate: { isOn: false, because: 'disabled by x' } });
    expect(plan.notes).toEqual([expect.stringContaining('PinnedImages is off (disabled by x)')]);
  });

  it.each([
    ['fits everywhere', { a: room, b: room }, 'It fits on every machine.'],
    ['fits nowhere yet', {}, 'There are no machines to pull them yet.'],
    ['may not fit on an unknown one', { a: room, b: null }, 'It is unknown whether it fits on 1 machine: b.'],
    [
      'may not fit on one',
      { a: room, b: { told: [], progress: { store: { free: 2e9, size: 10e9 } } } },
      'It may not fit on 1 machine: b.',
    ],
  ])('that %s reports that', (_, nodes, words) => {
    const text = pinPlanText(planFor({ sets: [], nodes }));
    expect(text).toContain('Each machine downloads at most 1.0 GB and needs at most 2.0 GB on its disk');
    expect(text).toContain(words);
  });

  it('for many machines lists those that need attention', () => {
    const nodes = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`node-${10 + index}`, room]));
    const text = pinPlanText(planFor({ sets: [], nodes: { ...nodes, short: null } }));
    expect(text.match(/^(?:node-\d+|short) /gm)).toEqual(['short ']);
  });
});

const images = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `registry.example.com/a/b@sha256:${String(index).padStart(64, '0')}`);
const labels = { role: 'worker' };
const stored = (name: string, of: readonly string[], more: object = { labels }): Stored<PinnedImageSet> => ({
  metadata: { name, uid: 'u', resourceVersion: '1', ...more },
  spec: { pinnedImages: of.map((image) => ({ name: image })) },
});
const present = (...sets: Stored<PinnedImageSet>[]) => new Map(sets.map((set) => [set.metadata.name, set]));

describe('the sets of a list of images', () => {
  it('contain every image once and in order, at most 500 per set, in as few sets as possible', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2600 }), (count) => {
        const sets = newSets({ name: 'n', labels, images: images(count), present: present() });
        const parts = sets.map(({ object }) => object.spec.pinnedImages.map((image) => image.name));
        expect(parts.flat()).toEqual(images(count));
        expect(Math.max(...parts.map((part) => part.length))).toBeLessThanOrEqual(500);
        expect(sets).toHaveLength(Math.ceil(count / 500));
        expect(new Set(sets.map(({ object }) => object.metadata.name)).size).toBe(sets.length);
      }),
      { numRuns: 20 },
    );
  });

  it('are named so that the first set keeps its name when the list grows', () => {
    const names = newSets({ name: 'n', labels, images: images(1001), present: present() });
    expect(names.map(({ object }) => object.metadata.name)).toEqual(['n', 'n-2', 'n-3']);
  });

  it.each([
    ['is not there', undefined, { change: 'make', added: 3, removed: 0 }],
    ['is unchanged', stored('n', images(3)), { change: 'none', added: 0, removed: 0 }],
    ['has them in another order', stored('n', images(3).toReversed()), { change: 'none' }],
    ['has others', stored('n', images(5).slice(2)), { change: 'change', added: 2, removed: 2 }],
    ['has another label', stored('n', images(3), { labels: { role: 'master' } }), { change: 'change', added: 0 }],
    ['has additional labels', stored('n', images(3), { labels: { ...labels, a: 'b' } }), { change: 'none' }],
  ])('show what changes if one %s', (_, before, expected) => {
    const sets = newSets({ name: 'n', labels, images: images(3), present: present(...(before ? [before] : [])) });
    expect(sets).toMatchObject([expected]);
  });

  it('leave the sets of a longer list in place, and list them', () => {
    const before = present(
      stored('n', images(3)),
      stored('n-2', images(3)),
      stored('n-3', images(3)),
      stored('n-5', []),
    );
    expect(leftOver({ name: 'n', images: images(3), present: before })).toEqual(['n-2', 'n-3']);
    expect(leftOver({ name: 'n', images: images(1001), present: before })).toEqual([]);
  });
});

type Selector = MachineConfigPool['spec']['machineConfigSelector'];
const poolWith = (selector: Selector, name = 'infra'): MachineConfigPool => ({
  metadata: { name },
  spec: selector === undefined ? {} : { machineConfigSelector: selector },
});
const role = (operator: string, ...values: string[]) => ({
  key: ROLE_LABEL,
  operator,
  ...(values.length > 0 && { values }),
});

describe('the labels of a new set', () => {
  it.each<[string, Selector, object]>([
    [
      'the labels of the selector',
      { matchLabels: { [ROLE_LABEL]: 'infra', a: 'b' } },
      { [ROLE_LABEL]: 'infra', a: 'b' },
    ],
    [
      'the pool’s own role of several, not worker’s, which would match all workers',
      { matchExpressions: [role('In', 'worker', 'infra')] },
      { [ROLE_LABEL]: 'infra' },
    ],
    ['the first role otherwise', { matchExpressions: [role('In', 'worker', 'gpu')] }, { [ROLE_LABEL]: 'worker' }],
    ['an empty label that only has to exist', { matchExpressions: [role('Exists')] }, { [ROLE_LABEL]: '' }],
    [
      'nothing for a label that must not exist',
      {
        matchLabels: { a: 'b' },
        matchExpressions: [role('DoesNotExist'), { key: 'c', operator: 'NotIn', values: ['d'] }],
      },
      { a: 'b' },
    ],
  ])('are %s', (_, selector, labels) => {
    const pool = poolWith(selector);
    expect(labelsMatching(pool)).toEqual(labels);
    expect(takesSet(pool, { metadata: { name: 'x', labels: labelsMatching(pool) } })).toBe(true);
  });

  it.each<[string, Selector]>([
    ['no selector', undefined],
    ['one that selects everything', {}],
    [
      'one that no label can match',
      { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] },
    ],
    ['one that only refuses', { matchExpressions: [role('NotIn', 'worker')] }],
    ['an invalid one', { matchLabels: { a: 'b' }, matchExpressions: [role('Like', 'x')] }],
  ])('do not exist for a pool with %s, and the error explains what to do', (_, selector) => {
    expect(() => labelsMatching(poolWith(selector))).toThrow(
      expect.objectContaining({
        code: 'SLW_CLI_PIN_POOL',
        message: expect.stringMatching(
          /^MachineConfigPool infra: spec\.machineConfigSelector: .*spec\.pinnedImageSets/,
        ),
      }),
    );
  });
});
