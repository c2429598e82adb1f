import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, patchSteps, type Json, type JsonObject } from '../json.ts';
import { imageCases, buildImageQuestion } from '../testing/image-cases.ts';
import { olderStream, rhel10, rhel9 } from '../testing/stream-metadata.ts';
import { type ImageVerdict, type Platform } from '../verdict.ts';
import { platformDef, platforms } from './index.ts';

/** All fields that a rule may change. Omitted: none, since the user must import the image. */
const imageFields: Partial<Record<Platform, RegExp>> = {
  // The first disk of our specs is what machines boot, the second has data.
  gcp: /^\/disks\/0\/image$/,
  aws: /^\/ami\//,
  azure: /^\/image\//,
  alibabacloud: /^\/imageId$/,
  baremetal: /^\/image\/(?:url|checksum)$/,
};

const specAfter = (verdict: ImageVerdict, spec: JsonObject): JsonObject =>
  verdict.type === 'change' ? verdict.spec : spec;

describe.each(platforms)('the image of machines on %s', (platform) => {
  const rule = platformDef(platform).machineApi;
  const cases = imageCases.filter((each) => each.platform === platform);

  it.each(cases)('$name: $verdict', (each) => {
    const verdict = rule(each.spec, buildImageQuestion(each));
    expect(verdict).toMatchObject({
      type: each.verdict,
      ...(each.to !== undefined && { to: each.to }),
      ...(each.version !== undefined && { version: each.version }),
      ...(each.code !== undefined && { code: each.code }),
    });
    const after = specAfter(verdict, each.spec);
    expect(after).toEqual(each.after ?? each.spec);
    expect(Object.keys(after)).toEqual(Object.keys(each.spec));
  });

  const someCase = fc.constantFrom(...cases);
  const someStream = fc.constantFrom(rhel9, rhel10, olderStream);
  const anything = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
  const someObject = (longest: number): fc.Arbitrary<JsonObject> =>
    fc.dictionary(fc.string({ minLength: 1, maxLength: longest }), anything, { maxKeys: 6 });

  it('changes, and nothing around it does, whatever else the spec has', () => {
    fc.assert(
      fc.property(someCase, someObject(12), someStream, fc.boolean(), (each, more, stream, isAdopted) => {
        const spec = { ...more, ...each.spec };
        const after = specAfter(rule(spec, { ...buildImageQuestion(each, stream), isAdopted }), spec);
        const changed = patchSteps(spec, after, '').map(({ path }) => path);
        expect(changed.filter((path) => imageFields[platform]?.test(path) !== true)).toEqual([]);
      }),
    );
  });

  it('is current once it was set, by us or by the commands of an import', () => {
    fc.assert(
      fc.property(someCase, someStream, fc.boolean(), (each, stream, isAdopted) => {
        const question = { ...buildImageQuestion(each, stream), isAdopted: false };
        const verdict = rule(each.spec, { ...question, isAdopted });
        const next = rule(done(verdict, each.spec), question);
        const before = rule(each.spec, question);
        expect(next).toMatchObject(doneVersion(verdict) ?? { type: before.type });
      }),
    );
  });

  it('is never guessed at: any JSON for a spec and any JSON for images lead to a verdict', () => {
    fc.assert(
      fc.property(someCase, someObject(5), someObject(5), (each, spec, images) => {
        const question = buildImageQuestion(each);
        expect(['theirs', 'failed']).toContain(rule(spec, question).type);
        expect(rule(each.spec, { ...question, images }).type).not.toBe('change');
      }),
    );
  });

  it('gets some verdict if a field of the spec or of the images has another type', () => {
    const broken = (value: JsonObject): fc.Arbitrary<JsonObject> =>
      fc.tuple(fc.constantFrom(...listPaths(value)), anything).map(([path, field]) => replaced(value, path, field));
    const brokenCase = someCase.chain((each) => {
      const question = buildImageQuestion(each);
      return fc
        .tuple(broken(each.spec), broken(question.images))
        .map(([spec, images]) => ({ each, question, spec, images }));
    });
    fc.assert(
      fc.property(brokenCase, ({ each, question, spec, images }) => {
        const types = ['current', 'change', 'manual', 'theirs', 'failed'];
        expect(types).toContain(rule(spec, question).type);
        expect(types).toContain(rule(each.spec, { ...question, images }).type);
      }),
    );
  });
});

it('an image is unknown, not user-managed, if it is named by an id, or is a copy that the installer made', () => {
  const unknown = imageCases.filter((each) => {
    const verdict = platformDef(each.platform).machineApi(each.spec, buildImageQuestion(each));
    return verdict.type === 'theirs' && verdict.isUnknown;
  });
  expect(unknown.map(({ name }) => name)).toEqual([
    'gcp-copied-by-the-installer',
    'aws-unknown',
    'alibabacloud-unknown',
    'nutanix-by-uuid',
  ]);
  for (const each of unknown) {
    const question = { ...buildImageQuestion(each), isAdopted: true };
    expect(['change', 'manual']).toContain(platformDef(each.platform).machineApi(each.spec, question).type);
  }
});

it('a MachineSet is not unknown if one of its boot disks has an image that the installer did not copy', () => {
  const copied = imageCases.find(({ name }) => name === 'gcp-copied-by-the-installer');
  const [copy, golden] = ['demo-x7k2p-rhcos-image', 'golden'].map((name) => ({
    boot: true,
    image: `projects/demo-project/global/images/${name}`,
  }));
  const isUnknown = (disks: Json[]) => {
    const verdict = copied && platformDef('gcp').machineApi({ ...copied.spec, disks }, buildImageQuestion(copied));
    return verdict?.type === 'theirs' && verdict.isUnknown;
  };
  expect(isUnknown([{ ...copy }])).toBe(true);
  expect(isUnknown([{ ...golden }, { ...copy }])).toBe(false);
  expect(isUnknown([{ ...copy }, { ...golden }])).toBe(false);
});

it('an unknown image is explained, with the command that adopts it', () => {
  const unknown = imageCases.find(({ name }) => name === 'aws-unknown');
  const verdict = unknown && platformDef('aws').machineApi(unknown.spec, buildImageQuestion(unknown));
  expect(verdict).toMatchObject({
    why: 'Slipway does not know image ami-0123456789abcdef0: it is of an earlier release, from a marketplace or a custom one. It stays. If a release shipped it, let Slipway replace it: slipway bootimages adopt aws-unknown',
  });
});

/** What the spec is after a verdict was followed. */
const done = (verdict: ImageVerdict, spec: JsonObject): JsonObject =>
  verdict.type === 'manual' ? merged(spec, parsePatch(verdict.commands.at(-1) ?? '')) : specAfter(verdict, spec);

function doneVersion(verdict: ImageVerdict): Partial<ImageVerdict> | null {
  if (verdict.type === 'change') return { type: 'current', version: verdict.version };
  return verdict.type === 'manual' ? { type: 'current', version: verdict.artifact.version } : null;
}

/** The patch in the command that makes machines use the imported image. */
function parsePatch(command: string): JsonObject {
  const json = /--patch '(.*)'$/s.exec(command)?.[1]?.replaceAll(String.raw`'\''`, "'") ?? '';
  const patch = JSON.parse(json) as { spec: { template: { spec: { providerSpec: { value: JsonObject } } } } };
  return patch.spec.template.spec.providerSpec.value;
}

/** As a merge patch does it. */
function merged(value: JsonObject, patch: JsonObject): JsonObject {
  const result: Record<string, Json> = { ...value };
  for (const [key, field] of Object.entries(patch)) {
    const old = result[key];
    if (field === null) Reflect.deleteProperty(result, key);
    else result[key] = isJsonObject(field) ? merged(isJsonObject(old) ? old : {}, field) : field;
  }
  return result;
}

function listPaths(value: Json, before: readonly string[] = []): (readonly string[])[] {
  if (!isJsonObject(value)) return [];
  const fields = Object.entries(value).map(([key, field]) => ({ path: before.concat(key), field }));
  return fields.flatMap(({ path, field }) => listPaths(field, path)).concat(fields.map(({ path }) => path));
}

function replaced(value: JsonObject, [key = '', ...rest]: readonly string[], field: Json): JsonObject {
  const old = value[key];
  return { ...value, [key]: rest.length > 0 && isJsonObject(old) ? replaced(old, rest, field) : field };
}
