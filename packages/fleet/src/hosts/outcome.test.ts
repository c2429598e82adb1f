import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type HostStep, DEFAULT_STEP_OPTIONS } from './host-step.ts';
import { attachBegins, delay, detachBegins } from './memory.ts';
import { afterCall, type CallOutcome } from './outcome.ts';
import { aNode, sampleHostMemory, attachedA, drive, ISO_A, NOW } from './testing/facts.ts';

const attach: HostStep = { type: 'attach', url: ISO_A, remember: attachBegins(drive(), aNode(), NOW - 1000) };
const detach: HostStep = { type: 'detach', remember: detachBegins(attachedA, NOW - 1000) };
const power: HostStep = {
  type: 'power',
  target: 'power on',
  remember: sampleHostMemory({ doing: 'power on', since: NOW - 1000 }),
};
const after = (step: HostStep, outcome: CallOutcome, failures = 0) =>
  afterCall(step, outcome, { now: NOW, options: DEFAULT_STEP_OPTIONS, hostMemory: sampleHostMemory({ failures }) });
const accepted = { type: 'accepted' } as const;
const refused = { type: 'refused', message: 'no' } as const;

describe('after a call', () => {
  it('that Ironic accepted, it is remembered from when', () => {
    expect(after(attach, accepted)).toMatchObject({
      drive: { doing: 'attach', isSent: true, since: NOW, isAttached: false },
    });
    expect(after(detach, accepted)).toMatchObject({ drive: { doing: 'detach', isSent: true, since: NOW } });
    expect(after(power, accepted)).toMatchObject({ host: { doing: 'power on', isSent: true, since: NOW } });
    expect(after({ type: 'register' }, accepted)).toBeNull();
  });

  it('that Ironic refused, it is a failure, counted and tried again later', () => {
    expect(after(attach, refused)).toMatchObject({ drive: { doing: 'detach', failures: 1, isAttached: false } });
    expect(after(detach, refused)).toMatchObject({ drive: { doing: 'detach', failures: 1, notBefore: NOW + 90_000 } });
    expect(after(power, refused, 1)).toMatchObject({ host: { doing: 'none', failures: 2, message: 'no' } });
    expect(after({ type: 'register' }, refused)).toMatchObject({ host: { failures: 1, notBefore: NOW + 90_000 } });
    expect(after({ type: 'update node', remember: sampleHostMemory({}) }, refused, 1)).toMatchObject({
      host: { doing: 'update', failures: 2 },
    });
  });

  it('with an unknown outcome, nothing is written: the next step checks', () => {
    for (const step of [attach, detach, power]) expect(after(step, { type: 'unsure' })).toBeNull();
  });

  it('that ended the maintenance of a deletion that was called off, the deletion is forgotten', () => {
    const remember = sampleHostMemory({ doing: 'delete' });
    expect(after({ type: 'set maintenance', maintenance: false, remember }, accepted)).toMatchObject({
      host: { doing: 'none' },
    });
    expect(after({ type: 'set maintenance', maintenance: true, remember }, accepted)).toBeNull();
  });
});

const minutes = (failures: number, chance: number) =>
  delay(failures, { ...DEFAULT_STEP_OPTIONS, chance, minuteMs: 60_000 }) / 60_000;

describe('the delay after failures in a row', () => {
  it.each([
    [1, 0, 2],
    [2, 0, 4],
    [9, 0, 512],
    [10, 0, 512],
    [1000, 0, 512],
    [1, 0.5, 1.5],
    [1, 1, 1],
  ])('after %i, with the chance %d, is %d minutes', (failures, chance, expected) => {
    expect(minutes(failures, chance)).toBe(expected);
  });

  it('is never more than the doubled minutes, and never less than half of them', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, chance) => {
        const whole = 2 ** Math.min(failures, 9);
        expect(minutes(failures, chance)).toBeLessThanOrEqual(whole);
        expect(minutes(failures, chance)).toBeGreaterThanOrEqual(whole / 2 - 0.001);
      }),
    );
  });

  it('stops growing sooner where a user may be waiting at the machine', () => {
    expect(delay(9, { ...DEFAULT_STEP_OPTIONS, chance: 0, minuteMs: 60_000 }, 4)).toBe(16 * 60_000);
  });
});
