import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Drift } from './drift.ts';
import {
  createHealingHistory,
  decideHealing,
  type HealingFacts,
  MAX_HEALS,
  parseDriftPolicy,
  REFUSED_MS,
} from './healing.ts';

const MINUTE = 60_000;
const NOW = 100 * MINUTE;

function drift(name: string, more: Partial<Drift> = {}): Drift {
  return { kind: 'file', name, message: '', diff: '', canHeal: true, ...more };
}

const [a, b] = [drift('/etc/a'), drift('/etc/b')];

function facts(more: Partial<HealingFacts>): HealingFacts {
  return {
    policy: { type: 'heal', afterMs: 0 },
    drifts: [a, b],
    since: new Map([
      ['/etc/a', NOW - 15 * MINUTE],
      ['/etc/b', NOW - 3 * MINUTE],
    ]),
    healedAt: new Map(),
    refusedUntil: new Map(),
    givenUp: new Set(),
    now: NOW,
    ...more,
  };
}

const after10 = { type: 'heal', afterMs: 10 * MINUTE } as const;

describe('healing', () => {
  it.each([
    ['does nothing under the policy leave', facts({ policy: { type: 'leave' } }), [], [], null],
    ['covers everything under the policy heal', facts({}), [a, b], [], null],
    ['covers what has lasted long enough; the rest waits', facts({ policy: after10 }), [a], [], 7 * MINUTE],
    ['waits the whole time for what was just found', facts({ policy: after10, since: new Map() }), [], [], 10 * MINUTE],
    ['excludes what writing cannot repair', facts({ drifts: [drift('/etc/a', { canHeal: false }), b] }), [b], [], null],
    [
      'excludes what was healed five times in ten minutes',
      facts({ healedAt: new Map([['/etc/a', [1, 2, 3, 4, 9].map((minutes) => NOW - minutes * MINUTE)]]) }),
      [b],
      [a],
      null,
    ],
    [
      'includes what was healed five times over a longer time',
      facts({ healedAt: new Map([['/etc/a', [1, 2, 3, 4, 10].map((minutes) => NOW - minutes * MINUTE)]]) }),
      [a, b],
      [],
      null,
    ],
    ['waits with what the disk refused', facts({ refusedUntil: new Map([['/etc/a', NOW + 30_000]]) }), [b], [], 30_000],
    ['retries what the disk refused', facts({ refusedUntil: new Map([['/etc/a', NOW]]) }), [a, b], [], null],
    ['excludes what was given up', facts({ givenUp: new Set(['/etc/a']) }), [b], [], null],
  ])('%s', (_, given, heal, giveUp, waitMs) => {
    expect(decideHealing(given)).toEqual({ heal, giveUp, waitMs });
  });

  it('is never both attempted and given up, and never waits for the past', () => {
    const name = fc.constantFrom('/a', '/b', '/c');
    const time = fc.integer({ min: 0, max: NOW });
    const any = fc.record({
      names: fc.uniqueArray(name),
      canHeal: fc.boolean(),
      since: fc.dictionary(name, time),
      healed: fc.dictionary(name, fc.array(time, { maxLength: MAX_HEALS + 1 })),
      afterMs: fc.integer({ min: 0, max: NOW }),
    });
    fc.assert(
      fc.property(any, ({ names, canHeal, since, healed, afterMs }) => {
        const drifts = names.map((each) => drift(each, { canHeal }));
        const decision = decideHealing({
          policy: { type: 'heal', afterMs },
          drifts,
          since: new Map(Object.entries(since)),
          healedAt: new Map(Object.entries(healed)),
          refusedUntil: new Map(),
          givenUp: new Set(),
          now: NOW,
        });
        const both = decision.heal.filter((each) => decision.giveUp.includes(each));
        return both.length === 0 && (decision.waitMs ?? 1) > 0 && (canHeal || decision.heal.length === 0);
      }),
    );
  });
});

it('what the disk refuses is not counted as healed, however often, and is healed when the disk accepts it', () => {
  const history = createHealingHistory();
  for (let times = 0; times < 2 * MAX_HEALS; times += 1) {
    const now = NOW + times * REFUSED_MS;
    expect(decideHealing(facts({ ...history, now, drifts: [a] }))).toEqual({ heal: [a], giveUp: [], waitMs: null });
    history.noteHeals([a], [a], now);
    expect(decideHealing(facts({ ...history, now, drifts: [a] })).waitMs).toBe(REFUSED_MS);
  }
  history.noteHeals([a], [], NOW);
  expect(history.healedAt.get('/etc/a')).toEqual([NOW]);
  expect(history.refusedUntil).toEqual(new Map());
});

describe('a drift policy', () => {
  it.each([
    [undefined, { type: 'leave' }],
    ['', { type: 'leave' }],
    ['leave', { type: 'leave' }],
    ['heal', { type: 'heal', afterMs: 0 }],
    [' heal\n', { type: 'heal', afterMs: 0 }],
    ['heal-after=1m', { type: 'heal', afterMs: 60_000 }],
    ['heal-after=90s', { type: 'heal', afterMs: 90_000 }],
    ['heal-after=24h', { type: 'heal', afterMs: 86_400_000 }],
  ])('%j is valid', (text, policy) => {
    expect(parseDriftPolicy(text)).toEqual({ ok: true, policy });
  });

  it.each([
    ['repair', 'expected leave, heal, or heal-after=10m, found "repair"'],
    ['heal-after', 'expected leave, heal, or heal-after=10m, found "heal-after"'],
    ['heal-after=10', 'expected leave, heal, or heal-after=10m, found "heal-after=10"'],
    ['heal-after=-1m', 'expected leave, heal, or heal-after=10m'],
    ['heal-after=1d', 'expected leave, heal, or heal-after=10m'],
    ['heal-after=59s', 'expected a duration from 1m to 24h after heal-after=, found "heal-after=59s"'],
    ['heal-after=0m', 'expected a duration from 1m to 24h'],
    ['heal-after=1441m', 'expected a duration from 1m to 24h'],
    ['x'.repeat(5000), `found "${'x'.repeat(79)}…"`],
  ])('%.20j is invalid: drift is only reported until it is corrected', (text, problem) => {
    const parsed = parseDriftPolicy(text);
    expect(parsed).toMatchObject({ ok: false, policy: { type: 'leave' }, problem: expect.stringContaining(problem) });
    expect(JSON.stringify(parsed)).toContain('MachineConfiguration cluster, annotation slipway.dev/drift-policy');
  });
});
