import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideResource, type Decision } from './decide.ts';
import type { ResourceFacts } from './facts.ts';
import { computeSkew, type SkewInput } from './skew.ts';
import {
  clusterApiSet,
  everything,
  gcpImage,
  sampleGolden,
  machineSet,
  NEW,
  onGcp,
  onVsphere,
  sampleCluster,
  sampleResource,
  sampleStub,
} from './testing/sample-facts.ts';

const optIn = { uid: 'u', generation: 1, managers: everything };
const found = (name: string, given: Partial<ResourceFacts> = {}, resource = machineSet, managers = everything) =>
  decideResource(
    sampleResource({ ...given, resource: { ...resource, name } }),
    sampleCluster({ optIn: { ...optIn, managers } }),
  );
const current = found('fine', {
  machine: onGcp(gcpImage(NEW)),
  stub: { ...sampleStub, current: sampleStub.wanted },
});
const versioned = (version: string): Decision => ({ ...current, version });
const skew = (given: Partial<SkewInput> = {}) =>
  computeSkew({
    enforcement: undefined,
    optIn,
    findings: [current],
    releaseVersion: '4.22.0',
    installVersion: '4.10.3',
    before: undefined,
    ...given,
  });

describe('if every boot image is known', () => {
  it('the oldest one is recorded, with its release', () => {
    expect(skew()).toEqual({
      status: { mode: 'Automatic', automatic: { ocpVersion: '4.22.0', rhcosVersion: NEW } },
      problem: null,
    });
  });

  it.each<[string, readonly Decision[], object]>([
    ['the older one counts', [versioned('9.6.20251023-0'), current], { rhcosVersion: '9.6.20251023-0' }],
    ['one of an older release is recorded as such', [versioned('4.18.2026012111'), current], { ocpVersion: '4.18.0' }],
    ['one without a version counts as this release', [versioned('')], { ocpVersion: '4.22.0' }],
    ['none at all counts as this release', [], { ocpVersion: '4.22.0' }],
  ])('%s', (_, findings, automatic) => {
    expect(skew({ findings })).toMatchObject({ status: { automatic }, problem: null });
  });

  it('one that is too old blocks upgrades, even if the payload ships it', () => {
    const { status, problem } = skew({ findings: [versioned('412.86.202212170457-0')] });
    expect(status.automatic).toEqual({ ocpVersion: '4.12.0', rhcosVersion: '412.86.202212170457-0' });
    expect(problem).toMatch(/^Cannot upgrade: new machines may boot an image of 4\.12\.0, expected platform 4\.13\.0/);
  });

  it('a nightly release is recorded in the format that the API accepts', () => {
    const { status } = skew({ releaseVersion: '4.22.0-0.nightly-2026-03-01-120000' });
    expect(status.automatic).toMatchObject({ ocpVersion: '4.22.0' });
  });
});

describe('a skipped resource never counts as fine', () => {
  const skipped: [string, Decision][] = [
    ['an owned one', found('a', { owners: [{ apiVersion: 'hive.openshift.io/v1', kind: 'Hive', name: 'h' }] })],
    ['a held one', found('a', { annotations: { 'slipway.dev/boot-image-hold': 'x' } })],
    ['a paused one', found('a', { isPaused: true })],
    ["one with an image of the owner's own", found('a', { machine: onGcp('projects/customer/global/images/own') })],
    ['one whose image the user must import', found('a', { machine: onVsphere })],
    ['one that fails', found('a', { stub: { ok: false, current: 'x', message: 'gone' } })],
    [
      'one that is not opted in',
      decideResource(sampleResource({ resource: { ...machineSet, name: 'a' } }), sampleCluster({ optIn: null })),
    ],
  ];

  it.each(skipped)('%s resets the record to the installed release', (_, finding) => {
    const { status, problem } = skew({ findings: [current, finding] });
    expect(status).toEqual({ mode: 'Automatic', automatic: { ocpVersion: '4.10.3' } });
    expect(problem).toMatch(/image of 4\.10\.3.*MachineSet openshift-machine-api\/a \(/);
    expect(problem).not.toContain('fine');
  });

  it('an installed release that is new enough does not block upgrades', () => {
    const findings = skipped.map(([, finding]) => finding);
    expect(skew({ findings, installVersion: '4.14.1' })).toEqual({
      status: { mode: 'Automatic', automatic: { ocpVersion: '4.14.1' } },
      problem: null,
    });
  });

  it('an unknown installed release does', () => {
    const { status, problem } = skew({ findings: [found('a', { isPaused: true })], installVersion: null });
    expect(status.automatic).toEqual({ ocpVersion: '0.0.0' });
    expect(problem).toMatch(/The release that the cluster was installed with is unknown/);
  });

  it('names no more than ten', () => {
    const findings = Array.from({ length: 30 }, (_, index) => found(`set-${index}`, { isPaused: true }));
    expect(skew({ findings }).problem).toMatch(/and 20 more/);
  });

  it.each([
    ['its API is opted in', everything],
    ['only the Machine API is opted in', everything.filter(({ apiGroup }) => apiGroup === 'machine.openshift.io')],
    ['none is opted in', []],
  ])('a resource that is handled elsewhere does not count, if %s', (_, managers) => {
    const owners = [{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'MachineDeployment', name: 'md' }];
    const findings = [
      current,
      found('copy', { authoritativeApi: 'MachineAPI' }, clusterApiSet, managers),
      found('child', { owners }, clusterApiSet, managers),
      found('win', { machineLabels: { 'machine.openshift.io/os-id': 'Windows' } }, machineSet, managers),
    ];
    expect(skew({ findings })).toMatchObject({ status: { automatic: { ocpVersion: '4.22.0' } }, problem: null });
  });
});

describe('while a change is in progress', () => {
  const before = { mode: 'Automatic', automatic: { ocpVersion: '4.21.0' } } as const;
  const golden = sampleGolden(NEW);
  if (golden.type !== 'valid') throw new Error('no golden');
  const unstamped = {
    ...golden,
    golden: { ...golden.golden, stamp: { type: 'waiting', why: 'x', isLate: false } },
  } as const;

  it.each([
    ['a pending change', found('a')],
    ['images that may not be used yet', decideResource(sampleResource(), sampleCluster({ golden: unstamped }))],
  ])('%s: the record stays, and a missing record does not count as fine', (_, finding) => {
    expect(skew({ findings: [current, finding], before })).toEqual({ status: before, problem: null });
    expect(skew({ findings: [current, finding] }).status.automatic).toEqual({ ocpVersion: '4.10.3' });
    expect(skew({ findings: [finding, found('b', { isPaused: true })], before }).status.automatic).toEqual({
      ocpVersion: '4.10.3',
    });
  });
});

describe('who records it', () => {
  it('the user, in Manual', () => {
    const manual = { mode: 'OCPVersion', ocpVersion: '4.12.5' } as const;
    const { status, problem } = skew({ enforcement: { mode: 'Manual', manual } });
    expect(status).toEqual({ mode: 'Manual', manual });
    expect(problem).toMatch(/4\.12\.5.*spec\.bootImageSkewEnforcement\.manual/);
    const fine = { mode: 'RHCOSVersion', rhcosVersion: '9.6.20251023-0' } as const;
    expect(skew({ enforcement: { mode: 'Manual', manual: fine } }).problem).toBeNull();
  });

  it('nothing, in None, and if some are explicitly excluded', () => {
    const none = { status: { mode: 'None' }, problem: null };
    const findings = [found('a', { isPaused: true })];
    expect(skew({ enforcement: { mode: 'None' }, findings })).toEqual(none);
    expect(skew({ optIn: null, findings })).toEqual(none);
    expect(skew({ optIn: { ...optIn, managers: [] }, findings })).toEqual(none);
  });
});

it('law: one that is not current is never hidden by any number that are', () => {
  const bad = fc.constantFrom(
    found('a', { isPaused: true }),
    found('a', { machine: onVsphere }),
    found('a', { machine: onGcp('projects/customer/global/images/own') }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 20 }), bad, (count, finding) => {
      const findings = [...Array.from({ length: count }, () => current), finding];
      expect(skew({ findings }).problem).toContain('openshift-machine-api/a');
    }),
  );
});
