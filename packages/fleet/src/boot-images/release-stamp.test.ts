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
  it('may be used when nothing is waited for any more, and not before', () => {
    const waiting = written(facts(), MASTER);
    expect(readStamp(waiting)).toMatchObject({ state: { type: 'waiting' }, generation: 1 });
    expect(waiting.data).toEqual(data);
    const stamped = written(waiting, null);
    expect(readStamp(stamped)).toMatchObject({ state: { type: 'stamped' }, generation: 1, lookAgainMs: null });
    expect(stamped.data).toEqual({ ...data, ...ours });
    expect(stamped.annotations).not.toHaveProperty([WAITS]);
  });

  it('say what is waited for, as it changes', () => {
    const before = written(facts(), 'ClusterVersion');
    expect(readStamp(before).state).toMatchObject({
      why: expect.stringMatching(
        /coreos-bootimages of release 4\.22\.0 is not stamped by version v2 yet: waits for ClusterVersion$/,
      ),
    });
    expect(nextStamp(before, MASTER)).toEqual({ data: {}, annotations: { [WAITS]: MASTER } });
  });

  it.each([
    ['of another release', { data: { ...data, releaseVersion: '4.23.0' } }],
    ['of another version of ours', { data: { ...data, MCOVersionHash: 'v1' } }],
  ])('do not say what was waited for by one %s', (_, given) => {
    const before = facts({ ...given, annotations: { ...counted(), [WAITS]: MASTER } });
    expect(readStamp(before).state).toMatchObject({ why: expect.stringMatching(/yet: is about to be looked at$/) });
  });
});

describe('the counter of changes', () => {
  it('begins at one, in the same write as the stamp', () => {
    expect(nextStamp(facts(), null)).toMatchObject({ data: ours, annotations: { [GENERATION]: '1' } });
  });

  it('grows by one when the images or the release change, and takes the old stamp away while something is waited for', () => {
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

  it('does not grow for another version of ours, which waits for its own stamp', () => {
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

describe('a stamp that takes long', () => {
  it.each([
    [59 * MINUTE, false, MINUTE],
    [HOUR, true, null],
    [99 * HOUR, true, null],
  ])('%i ms after the change: late %s', (after, isLate, lookAgainMs) => {
    const before = facts({ annotations: { ...counted(NOW - after), [WAITS]: MASTER } });
    expect(readStamp(before)).toMatchObject({ state: { type: 'waiting', isLate }, lookAgainMs });
    expect(nextStamp(before, MASTER)).toBeNull();
  });

  it('says so, what it waits for, and where to look', () => {
    const { state } = readStamp(facts({ annotations: { ...counted(NOW - HOUR), [WAITS]: MASTER } }));
    expect(state).toMatchObject({
      why: expect.stringMatching(/waits for the first machine .*master\. .*longer than 60 minutes.*slipway status/),
    });
  });

  it('begins to count where somebody damaged the time', () => {
    const before = facts({ annotations: { ...counted(), [CHANGED]: 'once' } });
    expect(readStamp(before)).toMatchObject({ state: { isLate: false }, lookAgainMs: HOUR });
    expect(nextStamp(before, MASTER)?.annotations).toHaveProperty([CHANGED], new Date(NOW).toISOString());
  });
});

it('law: what was written leaves nothing to write', () => {
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

/** Arrived, but for what is given. */
const releaseFacts = (given: Partial<ReleaseFacts> = {}): ReleaseFacts => ({
  releaseVersion: '4.23.0',
  sources: [clusterVersion('4.23.0'), osImages('4.23.0')],
  streams: { madeFrom: 'quay.io/release@sha256:2', wanted: 'quay.io/release@sha256:2' },
  master: pool('master', { updatedMachineCount: 1 }),
  worker: pool('worker', { updatedMachineCount: 0 }),
  ...given,
});

/** Right after a new release was announced: all machines are updated, to what was there before. */
const onOldRelease: Partial<ReleaseFacts> = {
  master: pool('master', { config: 'rendered-master-1', os: { type: 'managed', wanted: NEW, rendered: OLD } }),
};

describe('the boot images of a release wait for', () => {
  it.each<[string, Partial<ReleaseFacts>, RegExp]>([
    ['nothing, when the first master runs it', {}, /^nothing$/],
    [
      'the ClusterVersion to go there',
      { sources: [clusterVersion('4.22.0'), osImages('4.23.0')] },
      /^status\.desired\.version of ClusterVersion version to be 4\.23\.0: it is 4\.22\.0$/,
    ],
    [
      'the ConfigMap with the OS images to be of it',
      { sources: [clusterVersion('4.23.0'), osImages('4.22.0')] },
      /^releaseVersion of ConfigMap machine-config-osimageurl to be 4\.23\.0: it is 4\.22\.0$/,
    ],
    ['nothing that says no release', { sources: [] }, /^nothing$/],
    [
      'no release where they say none themselves',
      { releaseVersion: '', sources: [clusterVersion('4.22.0')] },
      /^nothing$/,
    ],
    [
      'the OS image streams of it',
      { streams: { madeFrom: 'quay.io/release@sha256:1', wanted: 'quay.io/release@sha256:2' } },
      /^OSImageStream cluster to be made from quay\.io\/release@sha256:2: it is from quay\.io\/release@sha256:1$/,
    ],
    ['no streams where there are none', { streams: null }, /^nothing$/],
    [
      'a master pool that is updated, but to the OS of before',
      onOldRelease,
      /^MachineConfigPool master to be rendered with the OS image quay\.io\/os@sha256:2: rendered-master-1 has quay\.io\/os@sha256:1$/,
    ],
    [
      'a rendered config that is gone',
      { master: pool('master', { os: { type: 'managed', wanted: NEW, rendered: null } }) },
      /: rendered-master-2 is not there$/,
    ],
    [
      'a rendered config to get an OS image',
      { master: pool('master', { os: { type: 'managed', wanted: NEW, rendered: '' } }) },
      /: rendered-master-2 has none$/,
    ],
    [
      'a pool to get a stream',
      { master: pool('master', { os: { type: 'undecided' } }) },
      /^MachineConfigPool master to be on an OS image stream$/,
    ],
    ['no image where nobody manages one', { master: pool('master', { os: { type: 'unmanaged' } }) }, /^nothing$/],
    [
      'a pool to be rendered',
      { master: pool('master', { config: null }) },
      /^MachineConfigPool master to be rendered$/,
    ],
    [
      'counts that are of the pool as it is',
      { master: pool('master', { isObserved: false, machineCount: 0 }) },
      /^the status of MachineConfigPool master/,
    ],
    [
      'the first master',
      { master: pool('master', { updatedMachineCount: 0 }), worker: pool('worker') },
      /^the first machine of MachineConfigPool master to be updated to rendered-master-2$/,
    ],
    [
      'all workers, where there are no masters',
      { master: pool('master', { machineCount: 0 }), worker: pool('worker', { updatedMachineCount: 2 }) },
      /^all machines of MachineConfigPool worker to be updated to rendered-worker-2$/,
    ],
    [
      'the OS of the workers, where there are no masters',
      { master: null, worker: pool('worker', { os: { type: 'managed', wanted: NEW, rendered: OLD } }) },
      /^MachineConfigPool worker to be rendered with/,
    ],
    [
      'nothing, where there are no masters and all workers have it',
      { master: null, worker: pool('worker') },
      /^nothing$/,
    ],
    [
      'nothing, where there are no machines',
      { master: null, worker: pool('worker', { machineCount: 0, updatedMachineCount: 0, config: null }) },
      /^nothing$/,
    ],
    ['nothing, where there are no pools', { master: null, worker: null }, /^nothing$/],
  ])('%s', (_, given, expected) => {
    expect(waitsFor(releaseFacts(given)) ?? 'nothing').toMatch(expected);
  });
});
