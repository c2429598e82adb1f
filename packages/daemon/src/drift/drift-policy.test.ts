import { describe, expect, it } from 'vitest';
import { parseDriftPolicy } from './drift-policy.ts';

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
  ])('%j is understood', (text, policy) => {
    expect(parseDriftPolicy(text)).toEqual({ ok: true, policy });
  });

  it.each([
    ['repair', 'expected leave, heal, or heal-after=10m, found "repair"'],
    ['heal-after', 'expected leave, heal, or heal-after=10m, found "heal-after"'],
    ['heal-after=10', 'expected leave, heal, or heal-after=10m, found "heal-after=10"'],
    ['heal-after=-1m', 'expected leave, heal, or heal-after=10m'],
    ['heal-after=1d', 'expected leave, heal, or heal-after=10m'],
    ['heal-after=59s', 'expected a time from 1m to 24h after heal-after=, found "heal-after=59s"'],
    ['heal-after=0m', 'expected a time from 1m to 24h'],
    ['heal-after=1441m', 'expected a time from 1m to 24h'],
    ['x'.repeat(5000), `found "${'x'.repeat(80)}"`],
  ])('%.20j is none: drift is left as it is until it is corrected', (text, problem) => {
    const parsed = parseDriftPolicy(text);
    expect(parsed).toMatchObject({ ok: false, policy: { type: 'leave' }, problem: expect.stringContaining(problem) });
    expect(JSON.stringify(parsed)).toContain('MachineConfiguration cluster, annotation slipway.dev/drift-policy');
  });
});
