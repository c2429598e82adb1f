import { beforeEach, describe, expect, it } from 'vitest';
import { type FileSystem, makeDirectories, ownOwners } from '../host/file-system.ts';
import { emptyImage } from '../host/testing/disk-image.ts';
import { createMemoryDisk } from '../host/testing/memory-disk.ts';
import { openPinnedState, readPinMemory } from './pinned-state.ts';
import { buildSet } from './testing/sample-sets.ts';

const PATH = '/etc/machine-config-daemon/pinned-images.json';
const set = buildSet('s', ['a', 'b'], 3);
let files: FileSystem;

beforeEach(async () => {
  files = createMemoryDisk(emptyImage(ownOwners()));
  await makeDirectories(files, '/etc/machine-config-daemon', ownOwners());
});

const write = (text: string): Promise<void> =>
  files.createFile(PATH, { ...ownOwners(), mode: 0o600, bytes: Buffer.from(text) });

describe('the stored pins of a machine', () => {
  it('are none if it never pinned anything', async () => {
    expect(await readPinMemory(files)).toBeNull();
  });

  it('are those pinned last, and those about to be pinned', async () => {
    await write(JSON.stringify({ pinned: [set], next: [] }));
    expect(await readPinMemory(files)).toEqual({ pinned: [set], next: [] });
  });

  it('are compatible with an earlier version, in both directions', async () => {
    const containers = { pin: async () => {}, isSetToPin: async () => true };
    const inForce = await openPinnedState({ files, containers });
    await inForce.put([set], new AbortController().signal);
    const text = Buffer.from(await files.read(PATH, 10_000)).toString();
    expect(text).toBe(JSON.stringify({ pinned: [set] }));
    expect(await readPinMemory(files)).toEqual({ pinned: [set], next: null });
  });

  it.each([
    ['no JSON', '{"pinned":'],
    ['a list', '[]'],
    ['a string', '"pinned"'],
    ['null', 'null'],
    ['sets that are not a list', '{"pinned":{}}'],
    ['a set that is a list', '{"pinned":[[]]}'],
    ['a set that is null', '{"pinned":[null]}'],
    ['a set without images', '{"pinned":[{"name":"s","uid":"u","generation":1}]}'],
    ['images that are an object', '{"pinned":[{"name":"s","uid":"u","generation":1,"images":{}}]}'],
    ['an image that is not a string', '{"pinned":[{"name":"s","uid":"u","generation":1,"images":[1]}]}'],
    ['a generation that is a string', '{"pinned":[{"name":"s","uid":"u","generation":"1","images":[]}]}'],
    ['invalid next sets', '{"pinned":[],"next":[[]]}'],
  ])('are unusable if the file has %s', async (_, text) => {
    await write(text);
    expect(await readPinMemory(files)).toBeNull();
  });
});
