import { bootImageHoldAnnotation } from '@slipway/api';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BootImageMemory,
  decideResource,
  failedDecision,
  hotLoop,
  hotLoopStep,
  memoryCodec,
  withNewestMemory,
} from './decide.ts';
import type { ClusterFacts, OptIn, ResourceFacts } from './facts.ts';
import { patchSteps } from './json.ts';
import {
  carriedOut,
  changedBack,
  clusterApiSet,
  everything,
  gcpImage,
  gcpSpec,
  sampleGolden,
  HOUR,
  machineDeployment,
  machineSet,
  MINUTE,
  NEW,
  NEXT_MAJOR,
  NOW,
  OLD,
  onGcp,
  onVsphere,
  sampleCluster,
  sampleResource,
  sampleStub,
} from './testing/sample-facts.ts';

const memory: BootImageMemory = {
  image: 'ami-1',
  stub: 'worker-user-data-managed',
  times: ['2026-03-01T12:00:00.000Z'],
  optIn: '1@u-1',
};

it('the memory survives a round trip', () => {
  expect(memoryCodec.decode(memoryCodec.encode(memory))).toEqual(memory);
});

it('fields that another client added are dropped', () => {
  expect(memoryCodec.decode(JSON.stringify({ ...memory, more: 'x' }))).toEqual(memory);
});

it.each([
  undefined,
  '',
  'no JSON',
  'null',
  '[]',
  '{}',
  '"text"',
  JSON.stringify({ ...memory, times: 'x' }),
  JSON.stringify({ ...memory, times: ['yesterday'] }),
  JSON.stringify({ ...memory, image: 1 }),
  JSON.stringify({ ...memory, image: 'x'.repeat(5000) }),
])('damaged: %s', (text) => {
  expect(memoryCodec.decode(text)).toBeNull();
});

it('law: it is bounded, and never fails on any text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      const found = memoryCodec.decode(text);
      expect(found === null || typeof found.image === 'string').toBe(true);
    }),
  );
  const times = Array.from({ length: 1000 }, () => '2026-03-01T12:00:00.000Z');
  expect(memoryCodec.encode({ ...memory, image: 'x'.repeat(10_000), times }).length).toBeLessThan(2000);
});

const enforcedOptIn: OptIn = { uid: 'u-1', generation: 1, managers: everything };
const wanted = { image: 'ami-1', stub: 'managed' };

/** The memory after setting it at these times; null if one of them was refused. */
function setAt(times: readonly number[], value = wanted): BootImageMemory | null {
  let memory: BootImageMemory | null = null;
  for (const at of times) {
    const step = hotLoopStep(memory, value, { optIn: enforcedOptIn, now: NOW + at });
    if (step.type === 'stop') return null;
    memory = memoryCodec.decode(memoryCodec.encode(step.memory));
  }
  return memory;
}

it('a client that replaces the whole resource fifty times, with our annotation, is stopped like any other', () => {
  const replaced = sampleResource();
  let history: Record<string, string> | undefined;
  const verdicts: string[] = [];
  for (let turn = 0; turn < 50; turn += 1) {
    const { change, verdict } = decideResource(
      withNewestMemory(replaced, history),
      sampleCluster({ now: NOW + turn * 5000 }),
    );
    verdicts.push(verdict.code ?? verdict.verdict);
    if (change !== null) history = { 'slipway.dev/boot-image': change.memory };
  }
  expect(verdicts.filter((each) => each === 'update')).toHaveLength(hotLoop.times);
  expect(verdicts.at(-1)).toBe('SLW_BOOT_IMAGES_HOT_LOOP');
});

it.each<[string, BootImageMemory | null, BootImageMemory | null, BootImageMemory | null]>([
  ['the only one', memory, null, memory],
  ['the only one, in the history', null, memory, memory],
  [
    'the newer one',
    { ...memory, times: ['2026-03-01T12:00:00.000Z'] },
    { ...memory, image: 'old', times: ['2026-02-01T12:00:00.000Z'] },
    { ...memory, times: ['2026-03-01T12:00:00.000Z'] },
  ],
  [
    'the newer one, in the history',
    { ...memory, image: 'old', times: ['2026-02-01T12:00:00.000Z'] },
    { ...memory, times: ['2026-03-01T12:00:00.000Z'] },
    { ...memory, times: ['2026-03-01T12:00:00.000Z'] },
  ],
  ['none', null, null, null],
])('of two memories counts %s', (_, own, copy, expected) => {
  const annotations = (each: BootImageMemory | null) =>
    each === null ? {} : { 'slipway.dev/boot-image': memoryCodec.encode(each) };
  const facts = withNewestMemory(sampleResource({ annotations: annotations(own) }), annotations(copy));
  expect(memoryCodec.decode(facts.annotations['slipway.dev/boot-image'])).toEqual(expected);
});

describe('a value that was set and reverted', () => {
  it.each<[string, readonly number[], number, 'go' | 'stop']>([
    ['is set the first time', [], 0, 'go'],
    ['is set again', [0], 1, 'go'],
    ['is set a third time', [0, 1], 2, 'go'],
    ['is not set a fourth time', [0, 1, 2], 3, 'stop'],
    ['is not set a fourth time, much later', [0, 1, 2], 9999 * HOUR, 'stop'],
    ['counts when the three were within one hour', [0, 30 * MINUTE, HOUR], 2 * HOUR, 'stop'],
    ['does not when they were not', [0, 30 * MINUTE, HOUR + 1], HOUR + 2, 'go'],
    ['counts by the last three', [0, HOUR, HOUR + 1, HOUR + 2], HOUR + 3, 'stop'],
    ['counts when the clock was set back', [0, -MINUTE, -2 * MINUTE], 0, 'stop'],
  ])('%s', (_, times, at, expected) => {
    const memory = setAt(times);
    expect(memory === null).toBe(times.length === 0);
    expect(hotLoopStep(memory, wanted, { optIn: enforcedOptIn, now: NOW + at }).type).toBe(expected);
  });

  it('starts over with another image, another stub, or a changed opt-in', () => {
    const memory = setAt([0, 1, 2]);
    const at = { optIn: enforcedOptIn, now: NOW + 3 };
    expect(hotLoopStep(memory, wanted, at).type).toBe('stop');
    expect(hotLoopStep(memory, { ...wanted, image: 'ami-2' }, at)).toMatchObject({
      memory: { times: [new Date(NOW + 3).toISOString()] },
    });
    expect(hotLoopStep(memory, { ...wanted, stub: 'other' }, at).type).toBe('go');
    expect(hotLoopStep(memory, wanted, { ...at, optIn: { ...enforcedOptIn, generation: 2 } }).type).toBe('go');
    expect(hotLoopStep(memory, wanted, { ...at, optIn: { ...enforcedOptIn, uid: 'u-2' } }).type).toBe('go');
    expect(hotLoopStep(null, wanted, at).type).toBe('go');
  });

  it('is known however long its name is', () => {
    const long = { image: 'x'.repeat(9000), stub: 'managed' };
    expect(hotLoopStep(setAt([0, 1, 2], long), long, { optIn: enforcedOptIn, now: NOW + 3 }).type).toBe('stop');
  });
});

const decide = (resource: Partial<ResourceFacts> = {}, cluster: Partial<ClusterFacts> = {}) =>
  decideResource(sampleResource(resource), sampleCluster(cluster));
const optIn = (managers: OptIn['managers'], generation = 1): OptIn => ({ uid: 'u-1', generation, managers });

describe('a MachineSet that boots an older image', () => {
  it('gets the image of the payload and the managed stub in one change, and nothing else', () => {
    const { verdict, change } = decide();
    expect(verdict).toEqual({
      resource: machineSet,
      platform: 'gcp',
      architecture: 'x86_64',
      verdict: 'update',
      image: gcpImage(OLD),
      target: gcpImage(NEW),
      stub: { current: 'worker-user-data', wanted: 'worker-user-data-managed' },
      why: '',
      code: null,
    });
    expect(change).toMatchObject({ userData: 'worker-user-data-managed', image: gcpImage(NEW), version: NEW });
    expect(patchSteps(gcpSpec(gcpImage(OLD)), change?.spec ?? null, '')).toEqual([
      { op: 'replace', path: '/disks/0/image', value: gcpImage(NEW) },
    ]);
  });

  it('with the right image gets only the stub; with both it is current', () => {
    const machine = onGcp(gcpImage(NEW));
    expect(decide({ machine })).toMatchObject({
      verdict: { verdict: 'update' },
      change: { spec: null, userData: 'worker-user-data-managed' },
      version: NEW,
    });
    const stub = { ...sampleStub, current: sampleStub.wanted };
    expect(decide({ machine, stub })).toMatchObject({ verdict: { verdict: 'current', why: '' }, change: null });
  });

  it('reports a customised stub that is preserved', () => {
    const stub = { ...sampleStub, wanted: 'worker-user-data-slipway', note: 'a customised stub is kept' };
    expect(decide({ stub })).toMatchObject({
      verdict: { verdict: 'update', why: 'a customised stub is kept', stub: { wanted: 'worker-user-data-slipway' } },
      change: { userData: 'worker-user-data-slipway' },
    });
  });
});

const ownerOf = (apiVersion: string, kind: string, name: string) => ({ apiVersion, kind, name });
/** Cluster API's own controllers set it on every MachineDeployment, and on every MachineSet without one. */
const clusterOwner = ownerOf('cluster.x-k8s.io/v1beta2', 'Cluster', 'demo');

describe('what blocks an update, in this order', () => {
  const missing = { type: 'problem', code: 'SLW_BOOT_IMAGES_MISSING', message: 'no ConfigMap' } as const;
  const invalid = { type: 'problem', code: 'SLW_BOOT_IMAGES_INVALID', message: 'not JSON' } as const;
  const stamp = (isLate: boolean): Partial<ClusterFacts> => {
    const golden = sampleGolden(NEW);
    if (golden.type !== 'valid') throw new Error('no golden');
    return { golden: { ...golden, golden: { ...golden.golden, stamp: { type: 'waiting', why: 'not yet', isLate } } } };
  };
  const owned = { owners: [{ apiVersion: 'hive.openshift.io/v1', kind: 'ClusterDeployment', name: 'hive' }] };
  const held = { annotations: { [bootImageHoldAnnotation]: OLD } };
  const windows = { machineLabels: { 'machine.openshift.io/os-id': 'Windows' } };
  const paused = { annotations: { 'cluster.x-k8s.io/paused': '' } };

  it.each<[string, Partial<ResourceFacts>, Partial<ClusterFacts>, object]>([
    [
      'no MachineConfiguration',
      {},
      { optIn: null },
      { gate: 'not opted in', why: /MachineConfiguration cluster does not exist/ },
    ],
    ['no entry', owned, { optIn: optIn([]) }, { gate: 'not opted in', why: /no entry for machinesets of machine/ }],
    [
      'an owner',
      { ...owned, ...held },
      {},
      { gate: 'owned', why: /ClusterDeployment hive of hive\.openshift\.io owns it/ },
    ],
    [
      'a MachineDeployment that owns it',
      { resource: clusterApiSet, owners: [ownerOf('cluster.x-k8s.io/v1beta2', 'MachineDeployment', 'md')] },
      {},
      { gate: 'handled by owner', why: /updated through MachineDeployment md/ },
    ],
    [
      'a Cluster of another API than Cluster API',
      { resource: machineDeployment, owners: [ownerOf('provisioning.cattle.io/v1', 'Cluster', 'demo')] },
      {},
      { gate: 'owned', why: /^Cluster demo of provisioning\.cattle\.io owns it and would revert/ },
    ],
    [
      'an owner that applies it again, next to its Cluster',
      {
        resource: machineDeployment,
        owners: [clusterOwner, ownerOf('work.open-cluster-management.io/v1', 'AppliedManifestWork', 'work')],
      },
      {},
      { gate: 'owned', why: /^AppliedManifestWork work of work\.open-cluster-management\.io owns it/ },
    ],
    [
      'the topology of its Cluster',
      {
        resource: machineDeployment,
        owners: [clusterOwner],
        labels: { 'topology.cluster.x-k8s.io/owned': '', 'cluster.x-k8s.io/cluster-name': 'demo' },
      },
      {},
      { gate: 'owned', why: /^the topology of Cluster demo sets its template.*ClusterClass/ },
    ],
    [
      'its NodePool',
      {
        resource: machineDeployment,
        owners: [clusterOwner],
        annotations: { 'hypershift.openshift.io/nodePool': 'clusters/demo' },
      },
      {},
      { gate: 'owned', why: /^NodePool clusters\/demo sets its template/ },
    ],
    ['a hold by a user', held, { golden: missing }, { gate: 'held', why: /held by a user at 9\.6/ }],
    [
      'no ConfigMap',
      { authoritativeApi: 'Migrating' },
      { golden: missing },
      { gate: 'boot images', verdict: 'failed', code: 'SLW_BOOT_IMAGES_MISSING' },
    ],
    [
      'a ConfigMap that cannot be read',
      {},
      { golden: invalid },
      { gate: 'boot images', verdict: 'failed', code: 'SLW_BOOT_IMAGES_INVALID', why: /not JSON/ },
    ],
    ['no stamp yet', {}, stamp(false), { gate: 'stamp', code: 'SLW_BOOT_IMAGES_VERSION', why: /not yet/ }],
    ['no stamp for too long', {}, stamp(true), { gate: 'stamp', verdict: 'failed', code: 'SLW_BOOT_IMAGES_VERSION' }],
    ['the other API', { ...windows, authoritativeApi: 'ClusterAPI' }, {}, { gate: 'other api', why: /ClusterAPI/ }],
    [
      'a copy in Cluster API, which need not be opted in',
      { resource: clusterApiSet, authoritativeApi: 'MachineAPI' },
      { optIn: optIn([]) },
      { gate: 'other api' },
    ],
    [
      'a move between the APIs',
      { ...paused, authoritativeApi: 'Migrating' },
      {},
      { gate: 'migrating', why: /^waiting/ },
    ],
    ['a pause', paused, {}, { gate: 'paused', why: /cluster\.x-k8s\.io\/paused/ }],
    ['spec.paused', { resource: machineDeployment, isPaused: true }, {}, { gate: 'paused', why: /spec\.paused/ }],
    ['Windows', { ...windows, ...held }, { optIn: null }, { gate: 'windows', why: /Windows/ }],
  ])('%s', (_, resource, cluster, expected) => {
    const { gate, change, verdict } = decide(resource, cluster);
    expect(change).toBeNull();
    const { why = /./, ...rest } = { verdict: 'skipped', code: null, ...expected } as Record<string, unknown>;
    expect({ gate, verdict: verdict.verdict, code: verdict.code }).toEqual(rest);
    expect(verdict.why).toMatch(why as RegExp);
  });

  it('shows the current and the desired image anyway', () => {
    expect(decide(held).verdict).toMatchObject({ image: gcpImage(OLD), target: gcpImage(NEW) });
  });

  it.each<[string, Partial<ResourceFacts>]>([
    ['the Machine API itself', { authoritativeApi: 'MachineAPI' }],
    ['Cluster API itself', { resource: clusterApiSet, authoritativeApi: 'ClusterAPI' }],
    ['a set of Cluster API that has no twin', { resource: clusterApiSet }],
    ['a MachineDeployment that was opted in', { resource: machineDeployment }],
    ['the Cluster of a MachineDeployment', { resource: machineDeployment, owners: [clusterOwner] }],
    [
      'the Cluster of a MachineSet, in an older version of its API',
      { resource: clusterApiSet, owners: [{ ...clusterOwner, apiVersion: 'cluster.x-k8s.io/v1alpha4' }] },
    ],
    ['the label of Hive, which reverts no image', { labels: { 'hive.openshift.io/managed': 'true' } }],
  ])('not %s', (_, resource) => {
    expect(decide(resource)).toMatchObject({ gate: null, verdict: { verdict: 'update' } });
  });
});

describe('the OS stream of a MachineSet', () => {
  const label = { labels: { 'machineconfiguration.openshift.io/osstream': 'rhel-10' } };
  it.each<[string, Partial<ResourceFacts>, Partial<ClusterFacts>, string]>([
    ['is the default of the ConfigMap', {}, {}, NEW],
    ['is that of pool worker', {}, { workerStream: 'rhel-10' }, NEXT_MAJOR],
    ['is its label before that', label, { workerStream: 'rhel-9' }, NEXT_MAJOR],
    ['may have another name', {}, { workerStream: 'rhel10-coreos' }, NEXT_MAJOR],
  ])('%s', (_, resource, cluster, version) => {
    expect(decide(resource, cluster).change).toMatchObject({ version });
  });

  it('that the ConfigMap does not have is an error, and never another stream', () => {
    expect(decide({}, { workerStream: 'rhel-11' })).toMatchObject({
      change: null,
      verdict: { verdict: 'failed', code: 'SLW_BOOT_IMAGES_STREAM' },
    });
  });
});

describe('what cannot be changed', () => {
  it.each<[string, Partial<ResourceFacts>, string]>([
    [
      'an unknown architecture',
      { machine: { ...sampleMachine(), architecture: { ok: false, message: 'which one?' } } },
      'SLW_BOOT_IMAGES_ARCH',
    ],
    [
      'an architecture that the stream does not have',
      { machine: { ...sampleMachine(), architecture: { ok: true, architecture: 's390x' } } },
      'SLW_BOOT_IMAGES_ARCH',
    ],
    [
      'a spec of an unknown kind',
      { machine: { ok: false, platform: 'gcp', code: 'SLW_BOOT_IMAGES_SPEC', message: 'kind' } },
      'SLW_BOOT_IMAGES_SPEC',
    ],
    ['a spec without a boot disk', { machine: { ...sampleMachine(), spec: { disks: [] } } }, 'SLW_BOOT_IMAGES_SPEC'],
    ['a stub that cannot be read', { stub: { ok: false, current: 'x', message: 'no JSON' } }, 'SLW_BOOT_IMAGES_STUB'],
  ])('%s is a failure with its code', (_, resource, code) => {
    const { verdict, change, gate } = decide(resource);
    expect({ verdict: verdict.verdict, code: verdict.code, change, gate }).toEqual({
      verdict: 'failed',
      code,
      change: null,
      gate: null,
    });
    expect(verdict.why).not.toBe('');
  });

  it('a user-managed image is ignored, and so is its user data', () => {
    const machine = onGcp('projects/customer/global/images/own');
    expect(decide({ machine })).toMatchObject({ verdict: { verdict: 'theirs' }, change: null, version: null });
    const adopted = decide({ machine, annotations: { 'slipway.dev/boot-image-adopt': 'true' } });
    expect(adopted).toMatchObject({ verdict: { verdict: 'update' }, change: { image: gcpImage(NEW) } });
  });

  it('a failed write is reported in the verdict', () => {
    expect(failedDecision(decide(), 'SLW_BOOT_IMAGES_WRITE', 'forbidden')).toMatchObject({
      verdict: { verdict: 'failed', code: 'SLW_BOOT_IMAGES_WRITE', why: 'forbidden', target: gcpImage(NEW) },
      change: null,
    });
  });
});

describe('an image that the user must import first', () => {
  it('is reported with the artifact, and the managed stub is set in the meantime', () => {
    const { verdict, change, toImport } = decide({ machine: onVsphere });
    expect(verdict).toMatchObject({ verdict: 'manual' });
    expect(toImport).toMatchObject({
      artifact: { version: NEW },
      commands: expect.arrayContaining([expect.any(String)]),
    });
    expect(verdict.why).toContain(`https://images.example.com/${NEW}.ova, sha256 abab`);
    expect(change).toMatchObject({ spec: null, userData: 'worker-user-data-managed' });
  });

  it('but not a stub that the old image cannot read', () => {
    const { verdict, change } = decide({ machine: onVsphere, stub: { ...sampleStub, needsNewImage: true } });
    expect(change).toBeNull();
    expect(verdict.why).toMatch(/Secret worker-user-data-managed together with the image/);
  });
});

function sampleMachine() {
  const machine = onGcp(gcpImage(OLD));
  if (!machine.ok) throw new Error('not read');
  return machine;
}

describe('another client that keeps reverting the image', () => {
  /** Decides at each of these times, and reverts each change. Returns the times of the changes. */
  function fight(times: readonly number[], given: (at: number) => Partial<ClusterFacts> = () => ({})) {
    const before = sampleResource();
    let facts = before;
    let last = decideResource(facts, sampleCluster());
    const writes: number[] = [];
    for (const at of times) {
      last = decideResource(facts, sampleCluster({ now: NOW + at, ...given(at) }));
      if (last.change !== null) writes.push(at);
      facts = changedBack(carriedOut(facts, last), before);
    }
    return { writes, last, facts };
  }

  it('wins after three times within the hour, and the message states what to do', () => {
    const { writes, last } = fight([0, MINUTE, 2 * MINUTE, 3 * MINUTE, 4 * HOUR, 4000 * HOUR]);
    expect(writes).toEqual([0, MINUTE, 2 * MINUTE]);
    expect(last.verdict).toMatchObject({ verdict: 'failed', code: 'SLW_BOOT_IMAGES_HOT_LOOP' });
    expect(last.verdict.why).toMatch(/3 times since 2026-03-01T12:00:00.000Z.*managedFields.*slipway\.dev\/boot-image/);
  });

  it('is no fight when it happens now and then', () => {
    const times = [0, 40 * MINUTE, 80 * MINUTE, 120 * MINUTE, 160 * MINUTE];
    expect(fight(times).writes).toEqual(times);
  });

  it('is forgotten when the opt-in changes, when a user removes the annotation, and with the next image', () => {
    const { facts } = fight([0, 1, 2, 3]);
    const later = { now: NOW + 5 };
    expect(decideResource(facts, sampleCluster(later)).change).toBeNull();
    expect(decideResource(facts, sampleCluster({ ...later, optIn: optIn(everything, 3) })).change).not.toBeNull();
    expect(decideResource({ ...facts, annotations: {} }, sampleCluster(later)).change).not.toBeNull();
    expect(
      decideResource(facts, sampleCluster({ ...later, golden: sampleGolden('9.8.20260601-0', 2) })).change,
    ).not.toBeNull();
  });

  it('law: never more than three changes within any hour', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 2 * HOUR }), { maxLength: 30 });
    fc.assert(
      fc.property(steps, (gaps) => {
        let at = 0;
        const { writes } = fight(gaps.map((gap) => (at += gap)));
        for (const end of writes) {
          const within = writes.filter((each) => each <= end && end - each <= hotLoop.withinMs);
          expect(within.length).toBeLessThanOrEqual(hotLoop.times);
        }
      }),
    );
  });
});

describe('laws', () => {
  const version = fc
    .tuple(fc.integer({ min: 2, max: 9 }), fc.integer({ min: 20_240_101, max: 20_261_231 }))
    .map(([minor, date]) => `9.${minor}.${date}-0`);
  const image = fc.oneof(version.map(gcpImage), fc.constant('projects/customer/global/images/own'));
  const machine = fc.oneof(image.map(onGcp), fc.constant(onVsphere));
  const stub = fc.oneof(
    fc.record({
      ok: fc.constant(true as const),
      current: fc.constantFrom('worker-user-data', 'worker-user-data-managed'),
      wanted: fc.constantFrom('worker-user-data-managed', 'worker-user-data-slipway'),
      note: fc.constantFrom('', 'a note'),
      needsNewImage: fc.boolean(),
    }),
    fc.constant({ ok: false as const, current: 'gone', message: 'missing' }),
  );
  const annotation = fc.oneof(fc.constant('{}'), fc.constant('not JSON'), fc.json(), fc.string());
  const resource = fc.record({
    resource: fc.constantFrom(machineSet, clusterApiSet, machineDeployment),
    machine,
    stub,
    annotations: fc.oneof(
      fc.constant({}),
      annotation.map((text) => ({ 'slipway.dev/boot-image': text })),
    ),
  });
  const cluster = fc.record({
    golden: version.map((each) => sampleGolden(each)),
    now: fc.integer({ min: NOW, max: NOW + 1000 * HOUR }),
  });

  it('a decision that was carried out leaves nothing to do', () => {
    fc.assert(
      fc.property(resource, cluster, (given, around) => {
        const facts = sampleResource(given);
        const first = decideResource(facts, sampleCluster(around));
        const second = decideResource(carriedOut(facts, first), sampleCluster(around));
        expect(second.change).toBeNull();
        const was = first.verdict.verdict;
        expect(second.verdict.verdict).toBe(was === 'update' ? 'current' : was);
      }),
    );
  });

  it('an opted-out resource is never written, and keeps its image', () => {
    const none: OptIn['managers'] = everything.map(({ resource, apiGroup }) => ({
      resource,
      apiGroup,
      selection: { mode: 'None' },
    }));
    fc.assert(
      fc.property(resource, cluster, fc.constantFrom(null, optIn([]), optIn(none)), (given, around, out) => {
        const { change, verdict, gate } = decideResource(
          sampleResource(given),
          sampleCluster({ ...around, optIn: out }),
        );
        expect({ change, verdict: verdict.verdict, gate }).toEqual({
          change: null,
          verdict: 'skipped',
          gate: 'not opted in',
        });
      }),
    );
  });

  it('an owned, held, paused, Windows or other-API resource is never written', () => {
    const kept = fc.constantFrom<(facts: ResourceFacts) => ResourceFacts>(
      (facts) => ({ ...facts, owners: [ownerOf('example.com/v1', 'Anything', 'x')] }),
      (facts) => ({ ...facts, annotations: { ...facts.annotations, [bootImageHoldAnnotation]: '' } }),
      (facts) => ({ ...facts, annotations: { ...facts.annotations, 'cluster.x-k8s.io/paused': 'true' } }),
      (facts) => ({ ...facts, isPaused: true }),
      (facts) => ({ ...facts, machineLabels: { 'machine.openshift.io/os-id': 'Windows' } }),
      (facts) => ({ ...facts, authoritativeApi: 'Migrating' }),
      (facts) => ({
        ...facts,
        authoritativeApi: facts.resource.api === 'machine.openshift.io' ? 'ClusterAPI' : 'MachineAPI',
      }),
    );
    fc.assert(
      fc.property(resource, cluster, kept, (given, around, keep) => {
        const { change, verdict } = decideResource(keep(sampleResource(given)), sampleCluster(around));
        expect({ change, verdict: verdict.verdict }).toEqual({ change: null, verdict: 'skipped' });
      }),
    );
  });

  it('downgrades follow the payload', () => {
    fc.assert(
      fc.property(version, version, (has, ships) => {
        const { change } = decide({ machine: onGcp(gcpImage(has)) }, { golden: sampleGolden(ships) });
        expect(change?.image).toBe(gcpImage(ships));
        expect(change?.spec === null).toBe(has === ships);
      }),
    );
  });

  it('each change of the boot images causes at most one patch, however often it is decided', () => {
    const changes = fc.array(fc.tuple(version, fc.integer({ min: 1, max: 4 })), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(changes, (list) => {
        let facts = sampleResource({ stub: { ...sampleStub, current: sampleStub.wanted } });
        let now = NOW;
        for (const [index, [ships, asks]] of list.entries()) {
          let writes = 0;
          for (let ask = 0; ask < asks; ask += 1) {
            const decision = decideResource(
              facts,
              sampleCluster({ golden: sampleGolden(ships, index + 1), now: (now += 1000) }),
            );
            writes += Number(decision.change !== null);
            facts = carriedOut(facts, decision);
          }
          expect(writes).toBeLessThanOrEqual(1);
          expect(facts.machine).toMatchObject({ spec: { disks: [{ image: gcpImage(ships) }, {}] } });
        }
      }),
    );
  });
});
