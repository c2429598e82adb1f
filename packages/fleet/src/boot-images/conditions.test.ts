import { describe, expect, it } from 'vitest';
import { bootImageConditions } from './conditions.ts';
import { decideResource } from './decide.ts';
import { keyOfMachines, type ResourceFacts } from './facts.ts';
import { type Failures, nextFailures } from './failures.ts';
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

const cluster = sampleCluster();
const named = (name: string, given: Partial<ResourceFacts> = {}, resource = machineSet) =>
  decideResource(sampleResource({ ...given, resource: { ...resource, name } }), cluster);
const current = { machine: onGcp(gcpImage(NEW)), stub: { ...sampleStub, current: sampleStub.wanted } };
const owned = { owners: [{ kind: 'Hive', name: 'h' }] };
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

const none = 'Reconciled 0 of 0 ControlPlaneMachineSets';

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
      message: `Reconciled 1 of 3 MAPI MachineSets (1 skipped) | ${none} | Reconciled 1 of 1 CAPI MachineSets | Reconciled 0 of 1 CAPI MachineDeployments. Not yet: openshift-cluster-api/e, openshift-machine-api/b. Skipped: openshift-machine-api/c`,
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

  it('does not count what is not opted in, or is handled elsewhere', () => {
    const decisions = [
      decideResource(sampleResource(), { ...cluster, optIn: null }),
      named('copy', { authoritativeApi: 'MachineAPI' }, clusterApiSet),
      named('child', { owners: [{ kind: 'MachineDeployment', name: 'md' }] }, clusterApiSet),
      named('win', { machineLabels: { 'machine.openshift.io/os-id': 'Windows' } }),
    ];
    expect(conditions(decisions).progressing.message).toMatch(
      /^Reconciled 0 of 0 .* 0 of 0 .* 0 of 0 .* 0 of 0 CAPI MachineDeployments$/,
    );
  });

  it('has the notes, and no more than ten names', () => {
    const decisions = Array.from({ length: 12 }, (_, index) => named(`set-${10 + index}`));
    const { message } = conditions(decisions, { notes: ['A note'] }).progressing;
    expect(message).toMatch(/openshift-machine-api\/set-19 and 2 more\. A note$/);
  });
});

describe('BootImageUpdateDegraded', () => {
  it('is not said before a failure counts: until then it is under way', () => {
    const decisions = [named('a', broken)];
    expect(conditions(decisions)).toMatchObject({ progressing: { status: 'True' }, degraded: { status: 'False' } });
  });

  it('counts, and says one cause once with all its names', () => {
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

  it('is over when all is well', () => {
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
