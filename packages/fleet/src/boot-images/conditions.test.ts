import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bootImageConditions,
  decodeFailures,
  encodeFailures,
  findFailure,
  type Failures,
  failureThreshold,
  isCounting,
  nextFailures,
  untilNextFailure,
} from './conditions.ts';
import { decideResource } from './decide.ts';
import { keyOfMachines, type ResourceFacts } from './facts.ts';
import {
  clusterApiSet,
  gcpImage,
  HOUR,
  machineDeployment,
  machineSet,
  MINUTE,
  NEW,
  NOW,
  onGcp,
  sampleCluster,
  sampleResource,
  sampleStub,
} from './testing/sample-facts.ts';
import type { ResourceVerdict } from './verdict.ts';

const { verdict: pending } = decideResource(sampleResource(), sampleCluster());
const well: ResourceVerdict = { ...pending, verdict: 'current' };
const failing: ResourceVerdict = { ...well, verdict: 'failed', code: 'SLW_BOOT_IMAGES_WRITE', why: 'forbidden' };
const key = keyOfMachines(machineSet);

/** The stored failures after failing at each of these times, with a restart after each. */
function after(times: readonly number[], verdict = failing): Failures {
  let failures: Failures = new Map();
  for (const at of times) {
    failures = nextFailures(decodeFailures(encodeFailures(failures) ?? undefined), [verdict], NOW + at);
  }
  return failures;
}
const counts = (failures: Failures, at: number): boolean => isCounting(findFailure(failures, key), NOW + at);

describe('a failure counts', () => {
  it.each<[string, readonly number[], number, boolean]>([
    ['not immediately', [0], 0, false],
    ['not for being old', [0], 10 * MINUTE, false],
    ['not for being frequent', [0, 1, 2, 3, 4, 5], 10, false],
    ['not before its time', [0, MINUTE, 2 * MINUTE], 4 * MINUTE, false],
    ['after three failures over five minutes', [0, MINUTE, 2 * MINUTE], 5 * MINUTE, true],
    ['not when a burst of them is old', [0, 1, 2, 3], 10 * MINUTE, false],
    ['for as long as it lasts', [0, MINUTE, 2 * MINUTE, 10 * HOUR], 10 * HOUR, true],
  ])('%s', (_, times, at, expected) => {
    expect(counts(after(times), at)).toBe(expected);
  });

  it('and is dropped once the resource recovers or is deleted', () => {
    const failures = after([0, MINUTE, 5 * MINUTE]);
    expect(nextFailures(failures, [well], NOW).size).toBe(0);
    expect(nextFailures(failures, [], NOW).size).toBe(0);
    expect(encodeFailures(new Map())).toBeNull();
  });

  it('is remembered while its change is pending, because a restart has not recovered it', () => {
    const failures = after([0, MINUTE]);
    expect(nextFailures(failures, [pending], NOW + 2 * MINUTE)).toEqual(failures);
  });

  it('whatever it fails with', () => {
    const failures = nextFailures(after([0, MINUTE]), [{ ...failing, code: 'SLW_BOOT_IMAGES_STUB' }], NOW + 5 * MINUTE);
    expect(failures.get(key)).toMatchObject({ code: 'SLW_BOOT_IMAGES_STUB', count: 3 });
    expect(counts(failures, 5 * MINUTE)).toBe(true);
  });

  it('starts over if the clock was set back', () => {
    const failures = nextFailures(after([HOUR]), [failing], NOW);
    expect(failures.get(key)).toMatchObject({ count: 1, since: new Date(NOW).toISOString() });
  });
});

describe('the requeue', () => {
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

  it('law: a caller that requeues as requested reports it after five minutes, with at most three writes', () => {
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

describe('the stored failures', () => {
  it('are bounded, and omitted ones are not reported too early', () => {
    const many = Array.from({ length: 1000 }, (_, index) => ({
      ...failing,
      resource: { ...machineSet, name: `set-${index}` },
    }));
    const first = nextFailures(new Map(), many.slice(0, 500), NOW);
    const both = nextFailures(first, many, NOW + MINUTE);
    const text = encodeFailures(both) ?? '';
    expect(text.length).toBeLessThan(32 * 1024);
    const read = decodeFailures(text);
    expect(findFailure(read, keyOfMachines({ ...machineSet, name: 'set-0' }))).toMatchObject({
      since: new Date(NOW).toISOString(),
    });
    expect(findFailure(read, keyOfMachines({ ...machineSet, name: 'set-999' }))).toMatchObject({
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
  ])('are empty if invalid: %s', (text) => {
    expect(decodeFailures(text).size).toBe(0);
  });

  it('are empty if larger than we ever write', () => {
    const text = encodeFailures(after([0])) ?? '';
    expect(decodeFailures(text).size).toBe(1);
    expect(decodeFailures(text.padEnd(70_000)).size).toBe(0);
  });

  it('law: never fails on any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        expect(decodeFailures(text)).toBeInstanceOf(Map);
      }),
    );
  });
});

const cluster = sampleCluster();
const named = (name: string, given: Partial<ResourceFacts> = {}, resource = machineSet) =>
  decideResource(sampleResource({ ...given, resource: { ...resource, name } }), cluster);
const current = { machine: onGcp(gcpImage(NEW)), stub: { ...sampleStub, current: sampleStub.wanted } };
const owned = { owners: [{ apiVersion: 'hive.openshift.io/v1', kind: 'Hive', name: 'h' }] };
const broken = { stub: { ok: false, current: 'x', message: 'Secret x is not JSON' } } as const;

function conditions(
  decisions: readonly ReturnType<typeof named>[],
  given: { failures?: Failures; notes?: string[] } = {},
) {
  const [progressing, degraded] = bootImageConditions({
    decisions,
    failures: new Map(),
    notes: [],
    now: NOW,
    ...given,
  });
  return { progressing, degraded };
}

/** Of what has failed for an hour. */
function lasting(decisions: readonly ReturnType<typeof named>[]): Failures {
  const verdicts = decisions.map(({ verdict }) => verdict);
  return [-HOUR, -30 * MINUTE, 0].reduce<Failures>(
    (failures, at) => nextFailures(failures, verdicts, NOW + at),
    new Map(),
  );
}

const NONE = 'Reconciled 0 of 0 ControlPlaneMachineSets';

describe('BootImageUpdateProgressing', () => {
  it('counts each kind of resource, and names those that are not done', () => {
    const decisions = [
      named('a', current),
      named('b'),
      named('c', owned),
      named('d', current, clusterApiSet),
      named('e', {}, machineDeployment),
    ];
    expect(conditions(decisions).progressing).toEqual({
      type: 'BootImageUpdateProgressing',
      status: 'True',
      reason: 'BootImagesUpdating',
      message: `Reconciled 1 of 3 MAPI MachineSets (1 skipped) | ${NONE} | Reconciled 1 of 1 CAPI MachineSets | Reconciled 0 of 1 CAPI MachineDeployments. Pending: openshift-cluster-api/e, openshift-machine-api/b. Skipped: openshift-machine-api/c`,
    });
  });

  it('ends when all are done or skipped', () => {
    expect(conditions([named('a', current), named('c', owned)]).progressing).toMatchObject({
      status: 'False',
      reason: 'AsExpected',
    });
    expect(conditions([]).progressing).toMatchObject({
      status: 'False',
      message: expect.stringMatching(/^Reconciled 0 of 0 MAPI MachineSets \|/),
    });
  });

  it('ignores what is not opted in or handled elsewhere', () => {
    const decisions = [
      decideResource(sampleResource(), { ...cluster, optIn: null }),
      named('copy', { authoritativeApi: 'MachineAPI' }, clusterApiSet),
      named(
        'child',
        { owners: [{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'MachineDeployment', name: 'md' }] },
        clusterApiSet,
      ),
      named('win', { machineLabels: { 'machine.openshift.io/os-id': 'Windows' } }),
    ];
    expect(conditions(decisions).progressing.message).toMatch(
      /^Reconciled 0 of 0 .* 0 of 0 .* 0 of 0 .* 0 of 0 CAPI MachineDeployments$/,
    );
  });

  it('says which images are unknown where they are opted in, and how to adopt them', () => {
    const unknown = { machine: onGcp('cluster-x-rhcos-image') };
    const theirs = { machine: onGcp('projects/mine/global/images/golden') };
    const decisions = [
      named('b', unknown),
      named('a', unknown),
      named('mine', theirs),
      named('win', { ...unknown, machineLabels: { 'machine.openshift.io/os-id': 'Windows' } }),
    ];
    expect(conditions(decisions).progressing).toMatchObject({
      status: 'False',
      message: expect.stringMatching(
        /\(3 skipped\).* Skipped: .*\. Not updated, because Slipway does not know the image: openshift-machine-api\/a, openshift-machine-api\/b\. If a release shipped it, run: slipway bootimages adopt$/,
      ),
    });
    // Not offered for adoption either: its machines run another OS.
    expect(decisions.map(({ isUnknown }) => isUnknown)).toEqual([true, true, false, false]);
    const optedOut = decideResource(sampleResource(unknown), { ...cluster, optIn: null });
    expect(optedOut.isUnknown).toBe(true);
    expect(conditions([optedOut]).progressing.message).not.toContain('adopt');
    const adopted = named('a', { ...unknown, annotations: { 'slipway.dev/boot-image-adopt': 'true' } });
    expect(adopted).toMatchObject({ isUnknown: false, verdict: { verdict: 'update' } });
  });

  it('has the notes, and no more than ten names', () => {
    const decisions = Array.from({ length: 12 }, (_, index) => named(`set-${10 + index}`));
    const { message } = conditions(decisions, { notes: ['A note'] }).progressing;
    expect(message).toMatch(/openshift-machine-api\/set-19 and 2 more\. A note$/);
  });
});

describe('BootImageUpdateDegraded', () => {
  it('is not reported before a failure has lasted: until then it is progressing', () => {
    const decisions = [named('a', broken)];
    expect(conditions(decisions)).toMatchObject({ progressing: { status: 'True' }, degraded: { status: 'False' } });
  });

  it('has counts, and lists each cause once with all its names', () => {
    const decisions = [
      named('b', broken),
      named('a', broken),
      named('d', { machine: unknownKind }, clusterApiSet),
      named('c', current),
    ];
    const { progressing, degraded } = conditions(decisions, { failures: lasting(decisions) });
    expect(degraded).toEqual({
      type: 'BootImageUpdateDegraded',
      status: 'True',
      reason: 'BootImageUpdateFailed',
      message:
        '2 Degraded MAPI MachineSets | 0 Degraded ControlPlaneMachineSets | 1 Degraded CAPI MachineSets | 0 Degraded CAPI MachineDeployments | Error(s): openshift-machine-api/a, openshift-machine-api/b: Secret x is not JSON [SLW_BOOT_IMAGES_STUB]; openshift-cluster-api/d: kind Odd [SLW_BOOT_IMAGES_SPEC]',
    });
    expect(progressing).toMatchObject({
      status: 'False',
      message: expect.stringMatching(/^Reconciled 1 of 3 MAPI MachineSets \|/),
    });
  });

  it('fits into a condition, however many fail', () => {
    const decisions = Array.from({ length: 1000 }, (_, index) =>
      named(`set-${index}`, { stub: { ok: false, current: 'x', message: `${index} ${'x'.repeat(5000)}` } }),
    );
    const { degraded } = conditions(decisions, { failures: lasting(decisions) });
    expect(degraded.message).toMatch(/^1000 Degraded MAPI.*and 990 other errors$/);
    expect(degraded.message.length).toBeLessThan(32_768);
  });

  it('ends once everything is healthy', () => {
    const failures = lasting([named('a', broken)]);
    expect([...failures.keys()]).toEqual([keyOfMachines({ ...machineSet, name: 'a' })]);
    expect(conditions([named('a', current)], { failures }).degraded).toEqual({
      type: 'BootImageUpdateDegraded',
      status: 'False',
      reason: 'AsExpected',
      message:
        '0 Degraded MAPI MachineSets | 0 Degraded ControlPlaneMachineSets | 0 Degraded CAPI MachineSets | 0 Degraded CAPI MachineDeployments',
    });
  });
});

const unknownKind = { ok: false, platform: null, code: 'SLW_BOOT_IMAGES_SPEC', message: 'kind Odd' } as const;
