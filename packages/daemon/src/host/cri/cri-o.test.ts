// The client with a real gRPC server that returns bytes built from the field numbers of the interface. Other tests
// check that CRI-O uses them the same way.
import { status } from '@grpc/grpc-js';
import * as fc from 'fast-check';
import protobuf from 'protobufjs/light.js';
import { parse } from 'smol-toml';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DaemonError } from '../../errors.ts';
import type { RuntimeImage } from '../container-runtime.ts';
import { type FileSystem, ownOwners, readText } from '../file-system.ts';
import { emptyImage } from '../testing/disk-image.ts';
import { createMemoryDisk } from '../testing/memory-disk.ts';
import { connect, methods } from './connection.ts';
import { createCrio, createCrioPins, type Crio, DROP_IN, formatDropIn } from './cri-o.ts';
import { type GrpcServer, startGrpcServer } from './testing/grpc-server.ts';

const buildImageName = (letter: string): string => `quay.example/team/app@sha256:${letter.repeat(64)}`;
const IMAGE = buildImageName('a');
const { Reader, Writer } = protobuf;
const { signal } = new AbortController();

let server: GrpcServer;
let crio: Crio;
const restarted: string[] = [];
const restart = async (unit: string) => void restarted.push(unit);

beforeEach(async () => {
  server = await startGrpcServer();
  const disk = createMemoryDisk(emptyImage(ownOwners()));
  const files = { ...disk, space: async (path: string) => ({ freeBytes: path.length, sizeBytes: 1000 }) };
  crio = createCrio({ root: '/', files, socket: server.socket, reload: async () => {}, restart });
});
afterEach(async () => {
  await crio.close();
  await server.remove();
});

const bytes = (write: (writer: protobuf.Writer) => void): Buffer => {
  const writer = new Writer();
  write(writer);
  return Buffer.from(writer.finish());
};
const text = (field: number, value: string) => bytes((writer) => writer.uint32((field << 3) | 2).string(value));
const inside = (field: number, ...parts: Buffer[]) =>
  bytes((writer) => writer.uint32((field << 3) | 2).bytes(Buffer.concat(parts)));
const number = (field: number, value: number) => bytes((writer) => writer.uint32(field << 3).uint64(value));

/** The message as fields of bytes. */
function parseFields(message: Uint8Array): [field: number, value: Buffer][] {
  const reader = Reader.create(message);
  const fields: [number, Buffer][] = [];
  while (reader.pos < reader.len) fields.push([reader.uint32() >>> 3, Buffer.from(reader.bytes())]);
  return fields;
}

describe('images', () => {
  it('have all known fields, and other fields of a runtime are ignored', async () => {
    const image = inside(
      1,
      text(1, 'id-1'),
      text(2, 'quay.example/team/app:v1'),
      text(3, IMAGE),
      number(4, 5_000_000_000),
      inside(5, number(1, 1001)),
      text(6, 'somebody'),
      inside(7, text(1, 'spec')),
      number(8, 1),
      text(99, 'of a later version'),
    );
    const bare = inside(1, text(1, 'id-2'));
    server.answers.ListImages = (_, answer) => answer(null, Buffer.concat([image, bare]));
    expect(await crio.images(signal)).toEqual([
      { id: 'id-1', digests: [IMAGE], tags: ['quay.example/team/app:v1'], isPinned: true, size: 5_000_000_000 },
      { id: 'id-2', digests: [], tags: [], isPinned: false, size: 0 },
    ]);
  });

  it('are an empty list if there are none', async () => {
    server.answers.ListImages = (_, answer) => answer(null, Buffer.alloc(0));
    expect(await crio.images(signal)).toEqual([]);
  });

  it('are rejected if the bytes are not such a message', async () => {
    server.answers.ListImages = (_, answer) => answer(null, Buffer.from([0x0a, 0xff]));
    await expect(crio.images(signal)).rejects.toMatchObject({ code: 'SLW_PINNING_RUNTIME' });
  });

  it('are rejected above the size limit', async () => {
    server.answers.ListImages = (_, answer) => answer(null, inside(1, text(1, 'x'.repeat(10_000))));
    const connection = connect(server.socket, 5000);
    const listed = connection.call(methods.listImages, {}, { withinMs: null, signal });
    await expect(listed).rejects.toThrow(/larger than max/i);
    connection.close();
  });
});

describe('the runtime', () => {
  it('reports its name and version', async () => {
    const said = [text(1, '0.1.0'), text(2, 'cri-o'), text(3, '1.34.0'), text(4, 'v1')];
    server.answers.Version = (_, answer) => answer(null, Buffer.concat(said));
    expect(await crio.describe(signal)).toBe('cri-o 1.34.0');
  });

  it('reports where images are, and the disk reports the space there', async () => {
    const path = '/var/lib/containers/storage/overlay-images';
    const used = inside(1, number(1, 123), inside(2, text(1, path)), inside(3, number(1, 4567)));
    server.answers.ImageFsInfo = (_, answer) => answer(null, used);
    expect(await crio.store(signal)).toEqual({ path, freeBytes: path.length, sizeBytes: 1000 });
    server.answers.ImageFsInfo = (_, answer) => answer(null, Buffer.alloc(0));
    await expect(crio.store(signal)).rejects.toMatchObject({
      code: 'SLW_PINNING_RUNTIME',
      message: expect.stringContaining('it named no file system'),
    });
  });

  it('is rejected if it does not know the interface', async () => {
    await expect(crio.images(signal)).rejects.toMatchObject({
      code: 'SLW_PINNING_RUNTIME',
      message: expect.stringMatching(/Expected CRI-O/),
    });
  });

  it('times out if it does not respond', async () => {
    server.answers.ListImages = () => {};
    const connection = connect(server.socket);
    await expect(connection.call(methods.listImages, {}, { withinMs: 50, signal })).rejects.toMatchObject({ code: 4 });
    connection.close();
  });

  it('is reconnected when it is back', async () => {
    const images = () => crio.images(signal).catch((error: unknown) => error);
    server.answers.ListImages = (_, answer) => answer(null, Buffer.alloc(0));
    expect(await images()).toEqual([]);
    await server.stop();
    expect(await images()).toMatchObject({ code: 'SLW_PINNING_RUNTIME' });
    expect(await images()).toMatchObject({
      code: 'SLW_PINNING_RUNTIME',
      message: expect.stringContaining(`to list its images: connect ENOENT ${server.socket}. Expected`),
    });
    await server.start();
    await expect.poll(images).toEqual([]);
  });
});

describe('abandoned pulls', () => {
  it('end with a restart of the runtime, which removes incomplete layers when it starts', async () => {
    await crio.abandonPulls();
    expect(restarted).toEqual(['crio.service']);
  });
});

describe('pins', () => {
  const disk = (): FileSystem => createMemoryDisk(emptyImage(ownOwners()));
  const dropIn = (files: FileSystem) => readText(files, DROP_IN, 100_000);
  const found = (name: string, isPinned: boolean): RuntimeImage => ({
    id: name,
    digests: [name],
    tags: [],
    isPinned,
    size: 1,
  });
  const OTHER = `quay.example/team/other@sha256:${'b'.repeat(64)}`;

  it('are written to a file, the runtime is reloaded, and the call waits until they apply', async () => {
    const files = disk();
    const steps: string[] = [];
    const pins = createCrioPins({
      files,
      async reload() {
        steps.push(`reload ${(await dropIn(files)) === formatDropIn([IMAGE])}`);
      },
      async images() {
        steps.push('images');
        return [found(IMAGE, steps.length > 3), found(OTHER, false)];
      },
    });
    await pins.pin([IMAGE], signal);
    expect(steps).toEqual(['reload true', 'images', 'images', 'images']);
    expect(await pins.isSetToPin([IMAGE])).toBe(true);
    expect(await pins.isSetToPin([IMAGE, OTHER])).toBe(false);
    expect(await pins.isSetToPin([])).toBe(false);
  });

  it('of missing images are not waited for', async () => {
    const pins = createCrioPins({ files: disk(), reload: async () => {}, images: async () => [] });
    await pins.pin([IMAGE], signal);
    expect(await pins.isSetToPin([IMAGE])).toBe(true);
  });

  it('leave no file when they are removed, and the runtime is reloaded', async () => {
    const files = disk();
    let reloads = 0;
    const pins = createCrioPins({ files, reload: async () => void (reloads += 1), images: async () => [] });
    await pins.pin([IMAGE], signal);
    await pins.pin([], signal);
    expect(await dropIn(files)).toBeUndefined();
    expect(await pins.isSetToPin([])).toBe(true);
    expect(reloads).toBe(2);
  });

  it('that the runtime does not apply are a failure that names the first of them', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] });
    try {
      const images = async () => [found(OTHER, false), found(IMAGE, false)];
      const pins = createCrioPins({ files: disk(), reload: async () => {}, images });
      const pinned = pins.pin([OTHER, IMAGE], signal).catch((error: unknown) => error);
      await vi.advanceTimersByTimeAsync(11_000);
      expect(await pinned).toMatchObject({
        code: 'SLW_PINNING_NOT_PINNED',
        message: expect.stringContaining(`50-pinned-images lists ${IMAGE} and 1 more, and the container runtime`),
      });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('the configuration of CRI-O', () => {
  it('is empty if nothing is pinned', () => {
    expect(formatDropIn([])).toBeNull();
  });

  it('lists every image once, sorted, in one table', () => {
    expect(
      formatDropIn([buildImageName('b'), buildImageName('a'), buildImageName('b'), buildImageName('c')])
        ?.split('\n')
        .slice(1),
    ).toEqual([
      '[crio.image]',
      'pinned_images = [',
      `  "${buildImageName('a')}",`,
      `  "${buildImageName('b')}",`,
      `  "${buildImageName('c')}",`,
      ']',
      '',
    ]);
  });

  it('is TOML that parses to the same images, and does not depend on their order', () => {
    const words = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1 });
    fc.assert(
      fc.property(words, (some) => {
        const images = some.map(buildImageName);
        const text = formatDropIn(images) ?? '';
        expect(parse(text)).toEqual({ crio: { image: { pinned_images: [...new Set(images)].toSorted() } } });
        expect(formatDropIn(images.toReversed())).toBe(text);
      }),
    );
  });
});

describe('a pull', () => {
  it('sends the image and the credentials of its registry', async () => {
    let request = Buffer.alloc(0);
    server.answers.PullImage = (call, answer) => {
      request = Buffer.from(call.request);
      answer(null, text(1, IMAGE));
    };
    await crio.pull(IMAGE, { username: 'me', password: 'hunter2' }, signal);
    expect(parseFields(request)).toEqual([
      [1, text(1, IMAGE)],
      [2, Buffer.concat([text(1, 'me'), text(2, 'hunter2')])],
    ]);
    await crio.pull(IMAGE, null, signal);
    expect(parseFields(request).map(([field]) => field)).toEqual([1]);
  });

  it('reports why it was rejected, without the password', async () => {
    server.answers.PullImage = (_, answer) =>
      answer({
        code: status.UNKNOWN,
        details: 'Requesting bearer token: invalid username/password me:hunter2: unauthorized',
      });
    const pulled = crio.pull(IMAGE, { username: 'me', password: 'hunter2' }, signal);
    const error: unknown = await pulled.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DaemonError);
    expect(error).toMatchObject({
      code: 'SLW_PINNING_PULL',
      message: expect.stringMatching(/unauthorized.*pull secret/),
    });
    expect(String(error)).not.toContain('hunter2');
  });

  it('reports a full disk', async () => {
    server.answers.PullImage = (_, answer) =>
      answer({ code: status.UNKNOWN, details: 'write /x: no space left on device' });
    await expect(crio.pull(IMAGE, null, signal)).rejects.toMatchObject({ code: 'SLW_PINNING_NO_SPACE' });
  });

  it('ends immediately when it is cancelled, in the runtime too', async () => {
    const asked = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    server.answers.PullImage = (call) => {
      call.on('cancelled', () => ended.resolve());
      asked.resolve();
    };
    const controller = new AbortController();
    const why = new Error('enough');
    const pulled = crio.pull(IMAGE, null, controller.signal).catch((error: unknown) => error);
    await asked.promise;
    controller.abort(why);
    expect(await pulled).toBe(why);
    await ended.promise;
    await expect(crio.pull(IMAGE, null, controller.signal)).rejects.toBe(why);
  });

  it('that ends with the runtime does not count against the image', async () => {
    const asked = Promise.withResolvers<void>();
    server.answers.PullImage = () => asked.resolve();
    const pulled = crio.pull(IMAGE, null, signal).catch((error: unknown) => error);
    await asked.promise;
    await server.stop();
    expect(await pulled).toMatchObject({ code: 'SLW_PINNING_RUNTIME' });
  });
});
