import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  digestStampData,
  parseGeneration,
  nextStamp,
  type PoolProgress,
  readStamp,
  type ReleaseFacts,
  type StampFacts,
  waitsFor,
} from './release-stamp.ts';
import { HOUR, MINUTE, NOW } from './testing/sample-facts.ts';

const data = { stream: '{"architectures":{}}', releaseVersion: '4.22.0' };
const CHANGED = 'slipway.dev/boot-images-changed';
const GENERATION = 'slipway.dev/boot-images-generation';
const DIGEST = 'slipway.dev/boot-images-digest';
const WAITS = 'slipway.dev/boot-images-waits-for';
const ours = { MCOVersionHash: 'v2', MCOReleaseImageVersion: '4.22.0' };
const MASTER = 'the first machine of MachineConfigPool master';

const facts = (given: Partial<StampFacts> = {}): StampFacts => ({
  data,
  annotations: {},
  version: 'v2',
  now: NOW,
  ...given,
});
const counted = (since = NOW) => ({
  [GENERATION]: '4',
  [DIGEST]: digestStampData(data),
  [CHANGED]: new Date(since).toISOString(),
});

const without = (given: Readonly<Record<string, string | null>>): Record<string, string> =>
  Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== null));

/** As the ConfigMap is after the write. */
function written(before: StampFacts, waitsFor: string | null): StampFacts {
  const write = nextStamp(before, waitsFor);
  return {
    ...before,
    data: without({ ...before.data, ...write?.data }),
    annotations: without({ ...before.annotations, ...write?.annotations }),
  };
}

describe('the boot images of a release', () => {
  it('may be used once nothing is missing, and not before', () => {
    const waiting = written(facts(), MASTER);
    expect(readStamp(waiting)).toMatchObject({ state: { type: 'waiting' }, generation: 1 });
    expect(waiting.data).toEqual(data);
    const stamped = written(waiting, null);
    expect(readStamp(stamped)).toMatchObject({ state: { type: 'stamped' }, generation: 1, lookAgainMs: null });
    expect(stamped.data).toEqual({ ...data, ...ours });
    expect(stamped.annotations).not.toHaveProperty([WAITS]);
  });

  it('report what they are waiting for, as it changes', () => {
    const before = written(facts(), 'ClusterVersion');
    expect(readStamp(before).state).toMatchObject({
      why: expect.stringMatching(
        /coreos-bootimages of release 4\.22\.0 is not yet stamped by Slipway v2: waiting for ClusterVersion$/,
      ),
    });
    expect(nextStamp(before, MASTER)).toEqual({ data: {}, annotations: { [WAITS]: MASTER } });
  });

  it.each([
    ['of another release', { data: { ...data, releaseVersion: '4.23.0' } }],
    ['of another Slipway version', { data: { ...data, MCOVersionHash: 'v1' } }],
  ])('do not report the wait of a stamp %s', (_, given) => {
    const before = facts({ ...given, annotations: { ...counted(), [WAITS]: MASTER } });
    expect(readStamp(before).state).toMatchObject({
      why: expect.stringMatching(/v2: the release has not been checked yet$/),
    });
  });
});

describe('the counter of changes', () => {
  it('starts at one, in the same write as the stamp', () => {
    expect(nextStamp(facts(), null)).toMatchObject({ data: ours, annotations: { [GENERATION]: '1' } });
  });

  it('grows by one when the images or the release change, and removes the old stamp while something is missing', () => {
    const before = facts({
      data: { ...data, ...ours, releaseVersion: '4.23.0' },
      annotations: counted(NOW - HOUR * 99),
    });
    expect(readStamp(before)).toMatchObject({ generation: 5, state: { isLate: false }, lookAgainMs: HOUR });
    expect(nextStamp(before, MASTER)).toMatchObject({
      data: { MCOVersionHash: null, MCOReleaseImageVersion: null },
      annotations: { [GENERATION]: '5', [CHANGED]: new Date(NOW).toISOString(), [WAITS]: MASTER },
    });
    expect(readStamp(written(before, MASTER))).toMatchObject({ generation: 5, state: { isLate: false } });
  });

  it('does not grow for another Slipway version, which waits for its stamp', () => {
    const before = facts({ data: { ...data, ...ours, MCOVersionHash: 'v1' }, annotations: counted(NOW - HOUR * 99) });
    expect(readStamp(before)).toMatchObject({ generation: 4, state: { isLate: false } });
    expect(nextStamp(before, MASTER)).toEqual({
      data: { MCOVersionHash: null, MCOReleaseImageVersion: null },
      annotations: { [CHANGED]: new Date(NOW).toISOString(), [WAITS]: MASTER },
    });
  });

  it.each([
    [undefined, 0],
    ['7', 7],
    ['0', 0],
    ['-1', 0],
    ['1e9', 0],
    ['many', 0],
    ['9'.repeat(40), 0],
  ])('%s is read as %i', (text, expected) => {
    expect(parseGeneration(text === undefined ? {} : { [GENERATION]: text })).toBe(expected);
  });
});

describe('a late stamp', () => {
  it.each([
    [59 * MINUTE, false, MINUTE],
    [HOUR, true, null],
    [99 * HOUR, true, null],
  ])('%i ms after the change: late %s', (after, isLate, lookAgainMs) => {
    const before = facts({ annotations: { ...counted(NOW - after), [WAITS]: MASTER } });
    expect(readStamp(before)).toMatchObject({ state: { type: 'waiting', isLate }, lookAgainMs });
    expect(nextStamp(before, MASTER)).toBeNull();
  });

  it('reports that, what it is waiting for, and what to run', () => {
    const { state } = readStamp(facts({ annotations: { ...counted(NOW - HOUR), [WAITS]: MASTER } }));
    expect(state).toMatchObject({
      why: expect.stringMatching(/waiting for the first machine .*master\. .*more than 60 minutes.*slipway status/),
    });
  });

  it('starts to count again if the time was corrupted', () => {
    const before = facts({ annotations: { ...counted(), [CHANGED]: 'once' } });
    expect(readStamp(before)).toMatchObject({ state: { isLate: false }, lookAgainMs: HOUR });
    expect(nextStamp(before, MASTER)?.annotations).toHaveProperty([CHANGED], new Date(NOW).toISOString());
  });
});

it('law: after a write there is nothing left to write', () => {
  const some = fc.dictionary(
    fc.constantFrom('stream', 'streams', 'releaseVersion', 'MCOVersionHash', 'MCOReleaseImageVersion'),
    fc.constantFrom('a', 'v2', '4.22.0'),
  );
  const marks = fc.dictionary(
    fc.constantFrom(GENERATION, DIGEST, CHANGED, WAITS),
    fc.constantFrom('1', 'x', '2026-03-01T11:00:00Z'),
  );
  fc.assert(
    fc.property(some, marks, fc.option(fc.constantFrom('x', MASTER)), (given, annotations, waitsFor) => {
      const before = facts({ data: given, annotations });
      const after = written(before, waitsFor);
      expect(nextStamp(after, waitsFor)).toBeNull();
      expect(readStamp(after).generation).toBe(readStamp(before).generation);
    }),
  );
});

const [OLD, NEW] = ['quay.io/os@sha256:1', 'quay.io/os@sha256:2'];

const pool = (name: string, given: Partial<PoolProgress> = {}): PoolProgress => ({
  name,
  machineCount: 3,
  updatedMachineCount: 3,
  isObserved: true,
  config: `rendered-${name}-2`,
  os: { type: 'managed', wanted: NEW, rendered: NEW },
  ...given,
});
const clusterVersion = (says: string) => ({ what: 'status.desired.version of ClusterVersion version', says });
const osImages = (says: string) => ({ what: 'releaseVersion of ConfigMap machine-config-osimageurl', says });

/** A cluster at the release, except for the given facts. */
const releaseFacts = (given: Partial<ReleaseFacts> = {}): ReleaseFacts => ({
  releaseVersion: '4.23.0',
  sources: [clusterVersion('4.23.0'), osImages('4.23.0')],
  streams: { madeFrom: 'quay.io/release@sha256:2', wanted: 'quay.io/release@sha256:2' },
  master: pool('master', { updatedMachineCount: 1 }),
  worker: pool('worker', { updatedMachineCount: 0 }),
  ...given,
});

/** Right after a new release was announced: all machines are updated, but to the previous release. */
const onOldRelease: Partial<ReleaseFacts> = {
  master: pool('master', { config: 'rendered-master-1', os: { type: 'managed', wanted: NEW, rendered: OLD } }),
};

describe('the boot images of a release wait for', () => {
  it.each<[string, Partial<ReleaseFacts>, RegExp]>([
    ['nothing, when the first master runs it', {}, /^nothing$/],
    [
      'the ClusterVersion to reach it',
      { sources: [clusterVersion('4.22.0'), osImages('4.23.0')] },
      /^status\.desired\.version of ClusterVersion version to reach 4\.23\.0 \(now 4\.22\.0\)$/,
    ],
    [
      'the ConfigMap with the OS images to reach it',
      { sources: [clusterVersion('4.23.0'), osImages('4.22.0')] },
      /^releaseVersion of ConfigMap machine-config-osimageurl to reach 4\.23\.0 \(now 4\.22\.0\)$/,
    ],
    ['nothing from objects without a release', { sources: [] }, /^nothing$/],
    [
      'no release if the boot images have none',
      { releaseVersion: '', sources: [clusterVersion('4.22.0')] },
      /^nothing$/,
    ],
    [
      'its OS image streams',
      { streams: { madeFrom: 'quay.io/release@sha256:1', wanted: 'quay.io/release@sha256:2' } },
      /^OSImageStream cluster to be built from quay\.io\/release@sha256:2 \(now quay\.io\/release@sha256:1\)$/,
    ],
    ['no streams if there are none', { streams: null }, /^nothing$/],
    [
      'a master pool that is updated, but to the previous OS',
      onOldRelease,
      /^MachineConfigPool master to be rendered with OS image quay\.io\/os@sha256:2 \(rendered-master-1 has quay\.io\/os@sha256:1\)$/,
    ],
    [
      'a rendered config that is gone',
      { master: pool('master', { os: { type: 'managed', wanted: NEW, rendered: null } }) },
      /\(rendered-master-2 does not exist\)$/,
    ],
    [
      'a rendered config to get an OS image',
      { master: pool('master', { os: { type: 'managed', wanted: NEW, rendered: '' } }) },
      /\(rendered-master-2 has none\)$/,
    ],
    [
      'a pool to get a stream',
      { master: pool('master', { os: { type: 'undecided' } }) },
      /^MachineConfigPool master to be assigned an OS image stream$/,
    ],
    ['no image if it is unmanaged', { master: pool('master', { os: { type: 'unmanaged' } }) }, /^nothing$/],
    [
      'a pool to be rendered',
      { master: pool('master', { config: null }) },
      /^MachineConfigPool master to be rendered$/,
    ],
    [
      'a current status of the pool',
      { master: pool('master', { isObserved: false, machineCount: 0 }) },
      /^MachineConfigPool master to report a current status$/,
    ],
    [
      'the first master',
      { master: pool('master', { updatedMachineCount: 0 }), worker: pool('worker') },
      /^the first machine of MachineConfigPool master to be updated to rendered-master-2$/,
    ],
    [
      'all workers, if there are no masters',
      { master: pool('master', { machineCount: 0 }), worker: pool('worker', { updatedMachineCount: 2 }) },
      /^all machines of MachineConfigPool worker to be updated to rendered-worker-2$/,
    ],
    [
      'the OS of the workers, if there are no masters',
      { master: null, worker: pool('worker', { os: { type: 'managed', wanted: NEW, rendered: OLD } }) },
      /^MachineConfigPool worker to be rendered with/,
    ],
    [
      'nothing, if there are no masters and all workers are updated',
      { master: null, worker: pool('worker') },
      /^nothing$/,
    ],
    [
      'nothing, if there are no machines',
      { master: null, worker: pool('worker', { machineCount: 0, updatedMachineCount: 0, config: null }) },
      /^nothing$/,
    ],
    ['nothing, if there are no pools', { master: null, worker: null }, /^nothing$/],
  ])('%s', (_, given, expected) => {
    expect(waitsFor(releaseFacts(given)) ?? 'nothing').toMatch(expected);
  });
});
