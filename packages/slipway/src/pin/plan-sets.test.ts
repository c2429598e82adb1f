import { type SamplePins, samplePins, sampleSet } from '@slipway/fleet/testing';
import { describe, expect, it } from 'vitest';
import { pinPlanText } from './pin-plan-text.ts';
import type { PinPlan } from './pin-plan.ts';
import { planSets } from './plan-sets.ts';

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
  it('is refused where the pool has a hundred sets already, and not for one of them', () => {
    const many = Array.from({ length: 100 }, (_, index) => sampleSet(`set-${index}`, 1));
    expect(() => planFor({ sets: many, nodes: {} })).toThrow(
      expect.objectContaining({ code: 'SLW_CLI_PIN_POOL', message: expect.stringContaining('it would have 101') }),
    );
    expect(planFor({ sets: [sampleSet('shop', 1), ...many.slice(1)], nodes: {} }).sets).toMatchObject([
      { name: 'shop', change: 'change' },
    ]);
  });

  it('says that nothing will happen while the gate is off', () => {
    const plan = planFor({ sets: [], nodes: {} }, { gate: { isOn: false, because: 'disabled by x' } });
    expect(plan.notes).toEqual([expect.stringContaining('PinnedImages is off (disabled by x)')]);
  });

  it.each([
    ['fits everywhere', { a: room, b: room }, 'It fits on every machine.'],
    ['fits nowhere yet', {}, 'There is no machine to pull them yet.'],
    ['is not known of some', { a: room, b: null }, 'Whether it fits is not known of 1 machine: b.'],
    [
      'may not fit on one',
      { a: room, b: { told: [], progress: { store: { free: 2e9, size: 10e9 } } } },
      'It may not fit on 1 machine: b.',
    ],
  ])('that %s says so', (_, nodes, words) => {
    const text = pinPlanText(planFor({ sets: [], nodes }));
    expect(text).toContain('Each machine downloads at most 1.0 GB and needs at most 2.0 GB on its disk');
    expect(text).toContain(words);
  });

  it('of many machines lists those that somebody has to look at', () => {
    const nodes = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`node-${10 + index}`, room]));
    const text = pinPlanText(planFor({ sets: [], nodes: { ...nodes, short: null } }));
    expect(text.match(/^(?:node-\d+|short) /gm)).toEqual(['short ']);
  });
});
