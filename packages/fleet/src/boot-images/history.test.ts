import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeKeptImages,
  encodeKeptImages,
  findKeptImage,
  findRecordableVersion,
  historyName,
  historySpec,
  imageSteps,
  keptAfterChange,
  type KeptImage,
  keptWhenChecked,
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
  onGcp,
  sampleCluster,
  sampleResource,
  sampleStub,
} from './testing/sample-facts.ts';
import { type Decision, decideResource } from './decide.ts';
import { canonicalJson } from '../render/rendered-name.ts';
import { platformDef, templateKind, templateRule } from './platforms/index.ts';
import { imageFields, type ImagePaths } from './platforms/platform.ts';
import { buildImageQuestion, imageCases } from './testing/image-cases.ts';
import { buildTemplateQuestion, TEMPLATE_REGION, templateCases } from './testing/machine-templates.ts';
import { rhel9, type StreamVersions } from './testing/stream-metadata.ts';
import { badSpec, type ImageQuestion, type ImageVerdict } from './verdict.ts';
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

const gcpPaths = platformDef('gcp').providerSpec.imagePaths;
const keptImage = (
  version: string,
  spec: JsonObject,
  imagePaths: ImagePaths,
  image = gcpImage(version),
): KeptImage => ({
  version,
  image,
  at: new Date(NOW).toISOString(),
  set: imageSteps(spec, imagePaths),
});

/** The images stored while a MachineSet moves from one version to the next. */
function kept(
  versions: readonly string[],
  spec: (version: string) => JsonObject = (each) => gcpSpec(gcpImage(each)),
  imagePaths: ImagePaths = gcpPaths,
) {
  let images: readonly KeptImage[] = [];
  for (const [index, version] of versions.slice(1).entries()) {
    const before = versions[index] ?? '';
    const first = keptImage('', spec(before), imagePaths, gcpImage(before));
    images = nextKeptImages(images, first, keptImage(version, spec(version), imagePaths));
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
    expect(image === undefined ? null : withKeptImage(now, image, gcpPaths)).toEqual({
      ...gcpSpec(gcpImage(NEW)),
      machineType: 'n2-standard-4',
    });
  });

  it('is restored even if it was specified in another way before', () => {
    const paths = imageFields('image', 'lookup');
    const spec = (version: string): JsonObject =>
      version === OLD ? { lookup: { resourceID: '/old' } } : { image: { 'a/b~c': version, sku: 'x' } };
    const image = findKeptImage(kept([OLD, NEW], spec, paths), gcpImage(OLD));
    expect(image === undefined ? null : withKeptImage({ ...spec(NEW), size: 'big' }, image, paths)).toEqual({
      lookup: { resourceID: '/old' },
      size: 'big',
    });
  });

  it('is not restored if it no longer fits', () => {
    const image = findKeptImage(kept([OLD, NEW]), NEW);
    const moved = { disks: gcpSpec(gcpImage(NEW))['disks'] } as { disks: readonly JsonObject[] };
    for (const spec of [{ disks: [] }, {}, { disks: 'none' }, { disks: moved.disks.toReversed() }]) {
      expect(image === undefined ? undefined : withKeptImage(spec, image, gcpPaths)).toBeNull();
    }
  });

  it('is not restored if only a part of it was recorded', () => {
    const { set, ...image } = keptImage(OLD, { image: { publisher: 'p', version: '1' } }, imageFields('image'));
    for (const part of [[], [{ op: 'replace', path: '/image/version', value: '1' } as const]])
      expect(
        withKeptImage({ image: { publisher: 'q', version: '2' } }, { ...image, set: part }, imageFields('image')),
      ).toBeNull();
    expect(set).toHaveLength(1);
  });

  it('is stored once, however often it is set', () => {
    const change = [
      keptImage('', gcpSpec(gcpImage(OLD)), gcpPaths, gcpImage(OLD)),
      keptImage(NEW, gcpSpec(gcpImage(NEW)), gcpPaths),
    ] as const;
    const once = nextKeptImages([], ...change);
    expect(nextKeptImages(once, ...change)).toBe(once);
  });
});

describe('every image of a life can be restored from every other', () => {
  const later: StreamVersions = {
    ...rhel9,
    version: '9.9.20270101-0',
    marketplace: { free: '9.9.20270101', paid: '9.9.2027010112', emea: '9.9.2027010113' },
  };
  interface Life {
    readonly name: string;
    readonly spec: JsonObject;
    readonly imagePaths: ImagePaths;
    judge(this: void, spec: JsonObject, versions: StreamVersions): ImageVerdict;
  }
  const lives: readonly Life[] = [
    ...imageCases.map((each) => ({
      name: each.name,
      spec: each.spec,
      verdict: each.verdict,
      imagePaths: platformDef(each.platform).providerSpec.imagePaths,
      judge: (spec: JsonObject, versions: StreamVersions) =>
        platformDef(each.platform).machineApi(spec, withAll(buildImageQuestion(each, versions))),
    })),
    ...templateCases.map((each) => ({
      name: `${each.kind} ${each.apiVersion} ${each.name}`,
      spec: each.spec,
      verdict: each.verdict,
      imagePaths: templateKind(each.kind).imagePaths,
      judge: (spec: JsonObject, versions: StreamVersions) =>
        templateRule(each.kind, each.apiVersion, { region: TEMPLATE_REGION, failureDomain: '' })?.(
          spec,
          withAll(buildTemplateQuestion(each, versions)),
        ) ?? badSpec('', '', undefined),
    })),
  ].filter(({ verdict }) => verdict === 'change');

  /** Every image was in a ConfigMap of this cluster. */
  const withAll = (question: ImageQuestion): ImageQuestion => ({ ...question, knownImages: everyId });
  const everyId = Object.assign(new Set<string>(), { has: () => true });

  it.each(lives)('$name', ({ spec, imagePaths, judge }) => {
    // Installed by the user or the installer, then at the release at which it is opted in, then two upgrades.
    const specs = [spec];
    const versions = [''];
    for (const release of [rhel9, later, { ...later, version: '9.9.20270202-0', marketplace: rhel9.marketplace }]) {
      const verdict = judge(specs.at(-1) ?? {}, release);
      if (verdict.type === 'change') specs.push(verdict.spec);
      if (verdict.type === 'change') versions.push(verdict.version);
    }
    expect(specs.length).toBeGreaterThan(2);
    const images = specs.map((each, at) => keptImage(versions[at] ?? '', each, imagePaths, `image ${at}`));
    for (const image of decodeKeptImages(encodeKeptImages(images)))
      for (const now of specs) {
        const wanted = canonicalJson(specs[Number(image.image.split(' ')[1])] ?? {});
        const restored = withKeptImage({ ...now, size: 'big' }, image, imagePaths);
        expect(canonicalJson(restored ?? {})).toBe(canonicalJson({ ...JSON.parse(wanted), size: 'big' }));
      }
  });

  it('also the one that a fresh cluster had when it was opted in', () => {
    const [first, next] = [OLD, NEW].map((version) => gcpSpec(gcpImage(version))) as [JsonObject, JsonObject];
    let images = nextKeptImages([], undefined, keptImage(OLD, first, gcpPaths));
    images = nextKeptImages(images, keptImage('', first, gcpPaths, gcpImage(OLD)), keptImage(NEW, next, gcpPaths));
    expect(images.map(({ version }) => version)).toEqual([OLD, NEW]);
    const found = findKeptImage(images, OLD);
    expect(found === undefined ? null : withKeptImage(next, found, gcpPaths)).toEqual(first);
  });
});

it.each<[string, Partial<Decision['verdict']>, Partial<Decision>, string | null]>([
  ['an image of the release, whoever set it', { verdict: 'current', image: gcpImage(NEW) }, { version: NEW }, NEW],
  ['one of the release without a version', { verdict: 'current', image: 'golden' }, {}, ''],
  ['a restored one, which is held', { verdict: 'skipped', image: gcpImage(OLD) }, { gate: 'held' }, OLD],
  ['no other one that is held', { verdict: 'skipped', image: 'golden' }, { gate: 'held' }, null],
  ['none that is skipped', { verdict: 'skipped', image: gcpImage(OLD) }, { gate: 'paused' }, null],
  ['none before its change is written', { verdict: 'update', image: gcpImage(OLD) }, {}, null],
  ['no image of a user', { verdict: 'theirs', image: gcpImage(OLD) }, {}, null],
])('the history records %s', (_, verdict, more, expected) => {
  const decision = decideResource(sampleResource(), sampleCluster());
  const images = [keptImage(OLD, gcpSpec(gcpImage(OLD)), gcpPaths)];
  const given = { ...decision, version: null, gate: null, ...more, verdict: { ...decision.verdict, ...verdict } };
  expect(findRecordableVersion(given, images)).toBe(expected);
});

describe('the images of a MachineSet', () => {
  const [old, next] = [OLD, NEW].map((version) => onGcp(gcpImage(version)));
  const decision = decideResource(sampleResource(), sampleCluster());
  const names = (images: readonly KeptImage[]) => images.map(({ version, image }) => [version, image]);
  const both = [
    ['', gcpImage(OLD)],
    [NEW, gcpImage(NEW)],
  ];

  it('have the one before a change, which was not recorded, and the one after it', () => {
    const { change, verdict } = decision;
    const after =
      old?.ok === true && change !== null ? keptAfterChange([], { machine: old, verdict, change }, NOW) : [];
    expect(names(after)).toEqual(both);
  });

  it('have the one before also if the process was killed after the change: the MachineSet names it', () => {
    const machine = next ?? onGcp('');
    const now = decideResource(
      sampleResource({ machine, stub: { ...sampleStub, current: sampleStub.wanted } }),
      sampleCluster(),
    );
    const before = keptImage('', gcpSpec(gcpImage(OLD)), gcpPaths, gcpImage(OLD));
    expect(names(keptWhenChecked([], { machine, decision: now, before }, NOW))).toEqual(both);
    expect(names(keptWhenChecked([], { machine, decision: now, before: undefined }, NOW))).toEqual(both.slice(1));
  });

  it('have none that is not that of the release', () => {
    expect(keptWhenChecked([], { machine: onGcp(gcpImage(OLD)), decision, before: undefined }, NOW)).toEqual([]);
  });
});

describe('the stored images', () => {
  it('are the last twenty, or fewer if they are large', () => {
    const versions = Array.from({ length: 40 }, (_, index) => `9.8.202601${10 + index}-0`);
    expect(kept(versions).map(({ version }) => version)).toEqual(versions.slice(-20));
    const large = kept(versions, (version) => ({ image: version.repeat(300) }), imageFields('image'));
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
        for (const image of images) expect(typeof withKeptImage(spec as JsonObject, image, gcpPaths)).toBe('object');
      }),
    );
  });
});
