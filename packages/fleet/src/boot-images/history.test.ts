import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeKeptImages,
  encodeKeptImages,
  findKeptImage,
  historyName,
  historySpec,
  type KeptImage,
  nextDetails,
  nextKeptImages,
  withKeptImage,
} from './history.ts';
import {
  clusterApiSet,
  gcpImage,
  gcpSpec,
  machineDeployment,
  machineSet,
  NEW,
  NOW,
  OLD,
} from './testing/sample-facts.ts';
import type { JsonObject } from './json.ts';

describe('the name of a BootImageHistory', () => {
  it.each([
    [machineSet, 'workers-mapi-machineset'],
    [clusterApiSet, 'workers-capi-machineset'],
    [machineDeployment, 'workers-capi-machinedeployment'],
  ])('%#: %s', (resource, name) => {
    expect(historyName(resource)).toBe(name);
  });

  it('fits the longest names, and stays unique', () => {
    const long = [`${'x'.repeat(252)}a`, `${'x'.repeat(252)}b`].map((name) =>
      historyName({ ...machineDeployment, name }),
    );
    expect(new Set(long).size).toBe(2);
    expect(long.map(({ length }) => length)).toEqual([253, 253]);
  });
});

it('a BootImageHistory names its resource', () => {
  expect(historySpec(machineDeployment)).toEqual({
    machineResourceReference: { name: 'workers', resource: 'MachineDeployment', apiGroup: 'cluster.x-k8s.io' },
  });
});

describe('a change', () => {
  const first = nextDetails([], { version: OLD, generation: 2, now: NOW });

  it('is recorded with its time, version and the counter of the ConfigMap', () => {
    expect(first).toEqual([{ updateTime: '2026-03-01T12:00:00Z', bootImageVersion: OLD, configMapGeneration: 2 }]);
    expect(nextDetails(first ?? [], { version: NEW, generation: 3, now: NOW })).toHaveLength(2);
  });

  it('is recorded once', () => {
    expect(nextDetails(first ?? [], { version: OLD, generation: 2, now: NOW + 1 })).toBeNull();
  });

  it('is recorded again after another one: a rollback and the next update are both changes', () => {
    const back = nextDetails(first ?? [], { version: NEW, generation: 2, now: NOW }) ?? [];
    expect(nextDetails(back, { version: OLD, generation: 2, now: NOW })).toHaveLength(3);
  });

  it('without a version is recorded anyway', () => {
    expect(nextDetails([], { version: '', generation: 1, now: NOW })).toMatchObject([{ bootImageVersion: 'unknown' }]);
  });

  it('is among the last 200', () => {
    let details = first ?? [];
    for (let generation = 3; generation < 300; generation += 1) {
      details = nextDetails(details, { version: OLD, generation, now: NOW }) ?? [];
    }
    expect([details.length, details[0]?.configMapGeneration, details.at(-1)?.configMapGeneration]).toEqual([
      200, 100, 299,
    ]);
  });
});

const NEWEST = '9.8.20260601-0';

/** The images stored while a MachineSet moves from one version to the next. */
function kept(versions: readonly string[], spec: (version: string) => JsonObject = (each) => gcpSpec(gcpImage(each))) {
  let images: readonly KeptImage[] = [];
  for (const [index, version] of versions.slice(1).entries()) {
    const before = versions[index] ?? '';
    images = nextKeptImages(images, {
      before: { image: gcpImage(before), spec: spec(before) },
      after: { image: gcpImage(version), spec: spec(version), version },
      now: NOW + index,
    });
  }
  return decodeKeptImages(encodeKeptImages(images));
}

describe('an earlier image', () => {
  it('is found by its version, and the first one, whose version is unknown, by its name', () => {
    const images = kept([OLD, NEW, NEWEST]);
    expect(images.map(({ version }) => version)).toEqual(['', NEW, NEWEST]);
    expect(findKeptImage(images, NEW)?.image).toBe(gcpImage(NEW));
    expect(findKeptImage(images, gcpImage(OLD))?.version).toBe('');
    expect(findKeptImage(images, OLD)).toBeUndefined();
    expect(findKeptImage(images, '')).toBeUndefined();
  });

  it('is restored, and nothing else is changed', () => {
    const image = findKeptImage(kept([OLD, NEW, NEWEST]), NEW);
    const now = { ...gcpSpec(gcpImage(NEWEST)), machineType: 'n2-standard-4' };
    expect(image === undefined ? null : withKeptImage(now, image)).toEqual({
      ...gcpSpec(gcpImage(NEW)),
      machineType: 'n2-standard-4',
    });
  });

  it('is restored even if it was specified in another way before', () => {
    const spec = (version: string): JsonObject =>
      version === OLD ? { image: { resourceID: '/old' } } : { image: { 'a/b~c': version, sku: 'x' } };
    const image = findKeptImage(kept([OLD, NEW], spec), gcpImage(OLD));
    expect(image === undefined ? null : withKeptImage({ ...spec(NEW), size: 'big' }, image)).toEqual({
      image: { resourceID: '/old' },
      size: 'big',
    });
  });

  it('is not restored if it no longer fits', () => {
    const image = findKeptImage(kept([OLD, NEW]), NEW);
    for (const spec of [{ disks: [] }, {}, { disks: 'none' }]) {
      expect(image === undefined ? undefined : withKeptImage(spec, image)).toBeNull();
    }
  });

  it('is stored once, however often it is set', () => {
    const change = {
      before: { image: gcpImage(OLD), spec: gcpSpec(gcpImage(OLD)) },
      after: { image: gcpImage(NEW), spec: gcpSpec(gcpImage(NEW)), version: NEW },
      now: NOW,
    };
    const once = nextKeptImages([], change);
    expect(nextKeptImages(once, change)).toBe(once);
  });
});

describe('the stored images', () => {
  it('are the last twenty, or fewer if they are large', () => {
    const versions = Array.from({ length: 40 }, (_, index) => `9.8.202601${10 + index}-0`);
    expect(kept(versions).map(({ version }) => version)).toEqual(versions.slice(-20));
    const large = kept(versions, (version) => ({ image: version.repeat(300) }));
    expect(large.length).toBeLessThan(20);
    expect(large.at(-1)?.version).toBe(versions.at(-1));
  });

  it.each([
    undefined,
    '',
    'no JSON',
    '{}',
    'null',
    '[1,{},{"version":"a","image":"b","at":"c","set":[{"op":"x","path":""}]}]',
  ])('are empty if invalid: %s', (text) => {
    expect(decodeKeptImages(text)).toEqual([]);
  });

  it('law: never fails on any text or spec', () => {
    const steps = fc.array(
      fc.record({ op: fc.constantFrom('add', 'remove', 'replace'), path: fc.string(), value: fc.jsonValue() }),
    );
    fc.assert(
      fc.property(steps, fc.dictionary(fc.string(), fc.jsonValue()), (set, spec) => {
        const images = decodeKeptImages(JSON.stringify([{ version: 'v', image: 'i', at: 'a', set }]));
        for (const image of images) expect(typeof withKeptImage(spec as JsonObject, image)).toBe('object');
      }),
    );
  });
});
