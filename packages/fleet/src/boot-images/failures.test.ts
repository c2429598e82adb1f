import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeFailures,
  encodeFailures,
  failureOf,
  type Failures,
  failureThreshold,
  isCounting,
  nextFailures,
  untilNextFailure,
} from './failures.ts';
import { keyOfMachines } from './facts.ts';
import { HOUR, machineSet, MINUTE, NOW, sampleCluster, sampleResource } from './testing/sample-facts.ts';
import { decideResource } from './decide.ts';
import type { ResourceVerdict } from './verdict.ts';

const { verdict: well } = decideResource(sampleResource(), sampleCluster());
const failing: ResourceVerdict = { ...well, verdict: 'failed', code: 'SLW_BOOT_IMAGES_WRITE', why: 'forbidden' };
const key = keyOfMachines(machineSet);

/** What is kept after it failed at each of these times, with a restart after each. */
function after(times: readonly number[], verdict = failing): Failures {
  let failures: Failures = new Map();
  for (const at of times) {
    failures = nextFailures(decodeFailures(encodeFailures(failures) ?? undefined), [verdict], NOW + at);
  }
  return failures;
}
const counts = (failures: Failures, at: number): boolean => isCounting(failureOf(failures, key), NOW + at);

describe('a failure counts', () => {
  it.each<[string, readonly number[], number, boolean]>([
    ['not at once', [0], 0, false],
    ['not for being old', [0], 10 * MINUTE, false],
    ['not for being frequent', [0, 1, 2, 3, 4, 5], 10, false],
    ['not before its time', [0, MINUTE, 2 * MINUTE], 4 * MINUTE, false],
    ['when it came three times over five minutes', [0, MINUTE, 2 * MINUTE], 5 * MINUTE, true],
    ['not when a burst of them is old', [0, 1, 2, 3], 10 * MINUTE, false],
    ['for as long as it lasts', [0, MINUTE, 2 * MINUTE, 10 * HOUR], 10 * HOUR, true],
  ])('%s', (_, times, at, expected) => {
    expect(counts(after(times), at)).toBe(expected);
  });

  it('and is forgotten when all is well, or the resource is gone', () => {
    const failures = after([0, MINUTE, 5 * MINUTE]);
    expect(nextFailures(failures, [well], NOW).size).toBe(0);
    expect(nextFailures(failures, [], NOW).size).toBe(0);
    expect(encodeFailures(new Map())).toBeNull();
  });

  it('whatever it fails with', () => {
    const failures = nextFailures(after([0, MINUTE]), [{ ...failing, code: 'SLW_BOOT_IMAGES_STUB' }], NOW + 5 * MINUTE);
    expect(failures.get(key)).toMatchObject({ code: 'SLW_BOOT_IMAGES_STUB', count: 3 });
    expect(counts(failures, 5 * MINUTE)).toBe(true);
  });

  it('begins anew when the clock was set back', () => {
    const failures = nextFailures(after([HOUR]), [failing], NOW);
    expect(failures.get(key)).toMatchObject({ count: 1, since: new Date(NOW).toISOString() });
  });
});

describe('the next look', () => {
  it.each<[readonly number[], number, number | null]>([
    [[], 0, null],
    [[0], 0, MINUTE],
    [[0, MINUTE], MINUTE, MINUTE],
    [[0, MINUTE, 2 * MINUTE], 2 * MINUTE, 3 * MINUTE],
    [[0, MINUTE, 2 * MINUTE], 5 * MINUTE, null],
    [[0], 20 * MINUTE, 0],
  ])('after failures at %j, at %i: %s', (times, at, expected) => {
    expect(untilNextFailure(after(times), NOW + at)).toBe(expected);
  });

  it('law: who looks again when told has it counting after five minutes, with at most three writes', () => {
    let failures: Failures = new Map();
    let now = NOW;
    const written = new Set<string>();
    for (let wait: number | null = 0; wait !== null; now += wait) {
      failures = nextFailures(failures, [failing], now);
      written.add(encodeFailures(failures) ?? '');
      wait = untilNextFailure(failures, now);
      if (wait === null) break;
    }
    expect(now - NOW).toBe(failureThreshold.forMs);
    expect(written.size).toBe(failureThreshold.count);
    expect(isCounting(failures.get(key), now)).toBe(true);
  });
});

describe('what is kept', () => {
  it('is bounded, and what has no room counts no earlier than it may', () => {
    const many = Array.from({ length: 1000 }, (_, index) => ({
      ...failing,
      resource: { ...machineSet, name: `set-${index}` },
    }));
    const first = nextFailures(new Map(), many.slice(0, 500), NOW);
    const both = nextFailures(first, many, NOW + MINUTE);
    const text = encodeFailures(both) ?? '';
    expect(text.length).toBeLessThan(32 * 1024);
    const read = decodeFailures(text);
    expect(failureOf(read, keyOfMachines({ ...machineSet, name: 'set-0' }))).toMatchObject({
      since: new Date(NOW).toISOString(),
    });
    expect(failureOf(read, keyOfMachines({ ...machineSet, name: 'set-999' }))).toMatchObject({
      since: new Date(NOW + MINUTE).toISOString(),
    });
  });

  it.each([
    undefined,
    'no JSON',
    '[]',
    '[{"code":"x","count":1,"since":"2026-03-01"}]',
    'null',
    '{"a":1}',
    '{"a":{"code":"x","count":0,"since":"2026-03-01"}}',
  ])('is nothing where it is damaged: %s', (text) => {
    expect(decodeFailures(text).size).toBe(0);
  });

  it('is nothing where it is larger than we ever write', () => {
    const text = encodeFailures(after([0])) ?? '';
    expect(decodeFailures(text).size).toBe(1);
    expect(decodeFailures(text.padEnd(70_000)).size).toBe(0);
  });

  it('law: never fails on what anybody wrote', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        expect(decodeFailures(text)).toBeInstanceOf(Map);
      }),
    );
  });
});
