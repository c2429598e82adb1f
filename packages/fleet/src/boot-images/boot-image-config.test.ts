import { describe, expect, it } from 'vitest';
import {
  type BootImageConfig,
  continueAnnotations,
  findImages,
  knownImages,
  MAX_BYTES,
  nextKept,
  readLastingAnnotations,
  parseBootImageConfig,
} from './boot-image-config.ts';
import { textAt } from './json.ts';
import {
  sampleAliyunImage,
  sampleAmi,
  bootImagesData,
  sampleLicensedAmi,
  olderStream,
  rhel10,
  rhel9,
  streamMetadata,
} from './testing/stream-metadata.ts';

function config(data: Record<string, string>): BootImageConfig {
  const read = parseBootImageConfig({ data });
  if (!read.ok) throw new Error(read.message);
  return read.config;
}

const readMetalRelease = (images: ReturnType<typeof findImages>): string =>
  images.ok ? textAt(images.images, 'artifacts', 'metal', 'release') : images.code;

describe('the ConfigMap of boot images', () => {
  it('contains what its release ships, and who stamped it', () => {
    const stamps = { MCOVersionHash: 'v1', MCOReleaseImageVersion: '4.22.0' };
    const read = config({ ...bootImagesData(), ...stamps });
    expect([...read.streams.keys()]).toEqual(['rhel-9', 'rhel-10']);
    expect(read).toMatchObject({
      releaseVersion: '4.22.0',
      defaultName: 'rhel-9',
      stamp: { version: 'v1', releaseVersion: '4.22.0' },
    });
  });

  it('has no stamp before the first check', () => {
    expect(config(bootImagesData()).stamp).toEqual({ version: '', releaseVersion: '' });
  });

  const deep = `{"architectures":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`;
  const many = JSON.stringify(
    Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`s${at}`, { architectures: {} }])),
  );
  it.each([
    ['that is not there', null, 'SLW_BOOT_IMAGES_MISSING', 'no such ConfigMap'],
    ['without data', {}, 'SLW_BOOT_IMAGES_INVALID', 'found neither'],
    [
      'that is not JSON',
      { data: { stream: '{' } },
      'SLW_BOOT_IMAGES_INVALID',
      'data.stream: expected stream metadata in JSON',
    ],
    ['that is a list', { data: { stream: '[]' } }, 'SLW_BOOT_IMAGES_INVALID', 'data.stream: expected an object'],
    ['that is a number', { data: { streams: '7' } }, 'SLW_BOOT_IMAGES_INVALID', 'data.streams: expected an object'],
    ['without architectures', { data: { stream: '{}' } }, 'SLW_BOOT_IMAGES_INVALID', 'data.stream.architectures'],
    [
      'with a stream that is a text',
      { data: { streams: '{"rhel-9":"x"}' } },
      'SLW_BOOT_IMAGES_INVALID',
      'data.streams["rhel-9"].architectures',
    ],
    [
      'with architectures in a list',
      { data: { stream: '{"architectures":[]}' } },
      'SLW_BOOT_IMAGES_INVALID',
      'found []',
    ],
    ['that is too deep', { data: { stream: deep } }, 'SLW_BOOT_IMAGES_INVALID', 'at most 32 levels'],
    ['with too many streams', { data: { streams: many } }, 'SLW_BOOT_IMAGES_INVALID', 'at most 50 streams, found 51'],
    ['that is too large', { data: { stream: '{}', other: 'x'.repeat(MAX_BYTES) } }, 'SLW_BOOT_IMAGES_INVALID', 'bytes'],
  ])('%s is refused', (_, configMap, code, message) => {
    expect(parseBootImageConfig(configMap)).toEqual({ ok: false, code, message: expect.stringContaining(message) });
  });
});

describe('the images of a stream', () => {
  const both = config(bootImagesData());

  it.each([
    ['requested by name', 'rhel-10', rhel10.version],
    ['requested by an alias', 'rhel-9', rhel9.version],
    ['of machines that follow none are the default', null, rhel9.version],
    ['that does not exist are not those of another', 'rhel-11', 'SLW_BOOT_IMAGES_STREAM'],
    ['are not found by the name inside the metadata', 'rhcos-4.16', 'SLW_BOOT_IMAGES_STREAM'],
    ['are not found by a field that every object has', 'constructor', 'SLW_BOOT_IMAGES_STREAM'],
  ])('%s', (_, stream, version) => {
    expect(readMetalRelease(findImages(both, stream, 'x86_64'))).toBe(version);
  });

  it('list the available architectures if the requested one is missing', () => {
    const { architectures, ...rest } = streamMetadata(rhel9);
    const { x86_64: only } = architectures as Record<string, never>;
    const one = config({ stream: JSON.stringify({ ...rest, architectures: { x86_64: only } }) });
    expect(findImages(one, null, 'aarch64')).toEqual({
      ok: false,
      code: 'SLW_BOOT_IMAGES_ARCH',
      message: expect.stringContaining('no boot images for aarch64; it has images for: x86_64'),
    });
  });

  describe('in a release that has only one, without a name,', () => {
    const old = config({ stream: JSON.stringify(streamMetadata(rhel9)) });
    const okd = config({
      stream: JSON.stringify(streamMetadata(rhel10)),
      streams: JSON.stringify({ '': streamMetadata(rhel10) }),
    });

    it.each([
      ['are those of the stream of the same OS', old, 'rhel-9', rhel9.version],
      ['are not those of the stream of another OS', old, 'rhel-10', 'SLW_BOOT_IMAGES_STREAM'],
      ['are those of the stream of the same OS, by another distribution', okd, 'centos-10', rhel10.version],
      ['are the default', okd, null, rhel10.version],
    ])('%s', (_, one, stream, version) => {
      expect(readMetalRelease(findImages(one, stream, 'x86_64'))).toBe(version);
    });
  });

  it('of machines without a stream are unknown if there is no default', () => {
    const { stream: _, ...data } = bootImagesData();
    expect(findImages(config(data), null, 'x86_64')).toMatchObject({ ok: false, code: 'SLW_BOOT_IMAGES_STREAM' });
  });
});

function knownConfig(data: Record<string, string>): BootImageConfig {
  const read = parseBootImageConfig({ data });
  if (!read.ok) throw new Error(read.message);
  return read.config;
}
const older = knownConfig(bootImagesData({ 'rhel-9': olderStream }));
const newer = knownConfig(bootImagesData());

describe('images that may be replaced', () => {
  it('are those of every stream, architecture and region of the release', () => {
    const known = knownImages(newer, undefined);
    expect(known).toContain(sampleAmi(rhel9.version, 'x86_64', 'us-east-1'));
    expect(known).toContain(sampleAmi(rhel10.version, 'aarch64', 'eu-central-1'));
    expect(known).toContain(sampleAliyunImage(rhel9.version, 'ap-southeast-1'));
    expect(known).not.toContain(sampleAmi(olderStream.version, 'x86_64', 'us-east-1'));
  });

  it('are those of earlier releases', () => {
    const known = knownImages(newer, nextKept(older, undefined));
    expect(known).toContain(sampleAmi(olderStream.version, 'x86_64', 'us-east-1'));
    expect(known).toContain(sampleAmi(rhel9.version, 'x86_64', 'us-east-1'));
  });

  it('never include those with a Windows licence', () => {
    expect(knownImages(newer, undefined)).not.toContain(sampleLicensedAmi(rhel9.version, 'us-east-1'));
  });
});

describe('the remembered image ids', () => {
  it('stay unchanged if nothing is new', () => {
    const kept = nextKept(newer, nextKept(older, undefined));
    expect(nextKept(older, kept)).toBe(kept);
    expect(nextKept(newer, kept)).toBe(kept);
  });

  it('are bounded, and the oldest are dropped first', () => {
    const ids = Array.from({ length: 3000 }, (_, at) => `ami-${String(at).padStart(17, '0')}`);
    const kept = nextKept(newer, ids.join(','));
    expect(kept.split(',')).toHaveLength(3000);
    expect(kept).not.toContain(ids[0]);
    expect(kept.length).toBeLessThan(128 * 1024);
    expect(kept).toContain(sampleAmi(rhel9.version, 'x86_64', 'us-east-1'));
  });

  it('are read without invalid ids', () => {
    expect(knownImages(knownConfig({ stream: '{"architectures":{}}' }), ' ami-1 ,,a b,"x",ami-2')).toEqual(
      new Set(['ami-1', 'ami-2']),
    );
  });
});

describe('a ConfigMap that was recreated or replaced by a client that does not know our annotations', () => {
  const GENERATION = 'slipway.dev/boot-images-generation';
  const DIGEST = 'slipway.dev/boot-images-digest';
  const KNOWN = 'slipway.dev/boot-images-known';
  const copy = { [GENERATION]: '4', [DIGEST]: 'old', [KNOWN]: 'ami-1' };

  it.each<[string, Record<string, string>, Record<string, string> | undefined, Record<string, string>]>([
    ['continues from the copy', { 'example.com/a': 'b' }, copy, { ...copy, 'example.com/a': 'b' }],
    ['keeps its own counter', { [GENERATION]: '7' }, copy, { [GENERATION]: '7' }],
    ['starts from the beginning without a copy', {}, undefined, {}],
  ])('%s', (_, annotations, copied, expected) => {
    expect(continueAnnotations(annotations, copied)).toEqual(expected);
  });

  it('has a copy of what cannot be computed again, and of nothing else', () => {
    expect(readLastingAnnotations({ ...copy, 'slipway.dev/boot-images-waits-for': 'x', 'example.com/a': 'b' })).toEqual(
      copy,
    );
    expect(readLastingAnnotations(undefined)).toEqual({});
  });
});
