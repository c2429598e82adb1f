import { beforeEach, describe, expect, it } from 'vitest';
import type { FileSystem } from '../host/file-system.ts';
import { ownOwners } from '../host/own-owners.ts';
import { emptyImage } from '../host/testing/disk-image.ts';
import { createMemoryDisk } from '../host/testing/memory-disk.ts';
import { openImageSizes } from './image-sizes.ts';
import { imageOf } from './testing/sample-sets.ts';

const PATH = '/var/lib/machine-config-daemon/image-sizes.json';
const sized = (size: number) => ({ layers: [{ digest: 'sha256:l', size }] });
let files: FileSystem;
beforeEach(() => {
  files = createMemoryDisk(emptyImage(ownOwners()));
});

describe('the sizes of images', () => {
  it('are known after a restart, and by whatever registry the same image has', async () => {
    const sizes = await openImageSizes(files);
    sizes.add(imageOf('a'), sized(7));
    await sizes.save(new Set());
    const again = await openImageSizes(files);
    expect(again.get(imageOf('a'))).toEqual(sized(7));
    expect(again.get(imageOf('a').replace('registry.', 'mirror.'))).toEqual(sized(7));
    expect(again.has(imageOf('b'))).toBe(false);
    expect(await files.lookAt(PATH)).toMatchObject({ mode: 0o600 });
  });

  it('are not written where nothing is new', async () => {
    await (await openImageSizes(files)).save(new Set());
    expect(await files.lookAt(PATH)).toBeNull();
  });

  it.each(['', 'no json', '[]', '{"sha256:a":"much"}', '{"sha256:a":[["l"]]}', '{"sha256:a":[[1,"l"]]}', 'null'])(
    'are asked for again where %j is on the disk',
    async (text) => {
      for (const path of ['/var', '/var/lib', '/var/lib/machine-config-daemon']) {
        await files.makeDirectory(path, { ...ownOwners(), mode: 0o755 });
      }
      await files.createFile(PATH, { ...ownOwners(), mode: 0o600, bytes: Buffer.from(text) });
      expect((await openImageSizes(files)).has('x@sha256:a')).toBe(false);
    },
  );

  it('are forgotten when they are too many, those that are needed last', async () => {
    const sizes = await openImageSizes(files);
    const names = Array.from({ length: 5010 }, (_, index) => imageOf(index.toString(16).padStart(4, '0')));
    for (const name of names) sizes.add(name, sized(1));
    const kept = new Set(names.slice(0, 20));
    await sizes.save(kept);
    expect(names.filter((name) => sizes.has(name))).toHaveLength(5000);
    expect([...kept].every((name) => sizes.has(name))).toBe(true);
  });
});
