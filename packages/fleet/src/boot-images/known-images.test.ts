import { describe, expect, it } from 'vitest';
import { type BootImageConfig, parseBootImageConfig } from './boot-image-config.ts';
import { knownImages, nextKept } from './known-images.ts';
import {
  aliyunImageOf,
  amiOf,
  bootImagesData,
  licensedAmiOf,
  olderStream,
  rhel10,
  rhel9,
} from './testing/stream-metadata.ts';

function config(data: Record<string, string>): BootImageConfig {
  const read = parseBootImageConfig({ data });
  if (!read.ok) throw new Error(read.message);
  return read.config;
}
const older = config(bootImagesData({ 'rhel-9': olderStream }));
const newer = config(bootImagesData());

describe('images that may be replaced', () => {
  it('are those of every stream, architecture and region of the release', () => {
    const known = knownImages(newer, undefined);
    expect(known).toContain(amiOf(rhel9.version, 'x86_64', 'us-east-1'));
    expect(known).toContain(amiOf(rhel10.version, 'aarch64', 'eu-central-1'));
    expect(known).toContain(aliyunImageOf(rhel9.version, 'ap-southeast-1'));
    expect(known).not.toContain(amiOf(olderStream.version, 'x86_64', 'us-east-1'));
  });

  it('are those of releases before', () => {
    const known = knownImages(newer, nextKept(older, undefined));
    expect(known).toContain(amiOf(olderStream.version, 'x86_64', 'us-east-1'));
    expect(known).toContain(amiOf(rhel9.version, 'x86_64', 'us-east-1'));
  });

  it('are never those with a licence of Windows', () => {
    expect(knownImages(newer, undefined)).not.toContain(licensedAmiOf(rhel9.version, 'us-east-1'));
  });
});

describe('what is kept of releases', () => {
  it('stays as it is when nothing is new', () => {
    const kept = nextKept(newer, nextKept(older, undefined));
    expect(nextKept(older, kept)).toBe(kept);
    expect(nextKept(newer, kept)).toBe(kept);
  });

  it('is bounded, and the oldest go first', () => {
    const ids = Array.from({ length: 3000 }, (_, at) => `ami-${String(at).padStart(17, '0')}`);
    const kept = nextKept(newer, ids.join(','));
    expect(kept.split(',')).toHaveLength(3000);
    expect(kept).not.toContain(ids[0]);
    expect(kept.length).toBeLessThan(128 * 1024);
    expect(kept).toContain(amiOf(rhel9.version, 'x86_64', 'us-east-1'));
  });

  it('is read without what cannot be an id', () => {
    expect(knownImages(config({ stream: '{"architectures":{}}' }), ' ami-1 ,,a b,"x",ami-2')).toEqual(
      new Set(['ami-1', 'ami-2']),
    );
  });
});
