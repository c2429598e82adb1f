import { describe, expect, it } from 'vitest';
import { createRegistry } from './client.ts';
import { createTestClient } from './testing/client.ts';
import { buildBlob, toDescriptor, buildImage, buildIndex, buildLayer } from './testing/image.ts';
import type { Blob, Packing } from './testing/image.ts';
import { startMisbehavingRegistry } from './testing/misbehaving-registry.ts';

const labels = { 'io.openshift.os.streamclass': 'rhel-9', constructor: 'also a label' };

async function releaseImage() {
  const base = await buildLayer([{ name: 'etc/os-release', content: 'old' }]);
  const top = await buildLayer([{ name: 'release-manifests/image-references', content: '{"kind":"ImageStream"}' }]);
  return buildImage([base, top], { labels });
}

describe('inspect', () => {
  it('returns labels, layers, sizes, platform and the digest of the reference', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    const image = await releaseImage();
    server.put('4.22', image);
    const found = await registry.inspect(`${server.host}/ocp/release:4.22`);
    const sizes = [image.config, ...image.layers].map(({ bytes }) => bytes.length);
    expect(found).toEqual({
      reference: `${server.host}/ocp/release@${image.manifest.digest}`,
      digest: image.manifest.digest,
      platform: { os: 'linux', architecture: 'amd64' },
      labels: expect.objectContaining(labels),
      layers: image.layers.map(toDescriptor),
      size: sizes.reduce((sum, size) => sum + size),
    });
    expect(server.requests[0]?.path).toBe('/v2/ocp/release/manifests/4.22');
    expect(server.requests[0]?.headers.accept).toContain('application/vnd.oci.image.index.v1+json');
  });

  it('needs no request when repeated by digest, and one by tag', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    const image = await releaseImage();
    server.put('4.22', image);
    const first = await registry.inspect(`${server.host}/release@${image.manifest.digest}`);
    expect(server.requests).toHaveLength(2);
    expect(await registry.inspect(`${server.host}/release@${image.manifest.digest}`)).toEqual(first);
    expect(server.requests).toHaveLength(2);
    await registry.inspect(`${server.host}/release:4.22`);
    expect(server.paths.slice(2)).toEqual(['manifests/4.22']);
  });

  it('has a cheaper variant for the layers only', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    const image = await releaseImage();
    server.put('4.22', image);
    const layers = await registry.layers(`${server.host}/release@${image.manifest.digest}`);
    expect(layers).toEqual(image.layers.map(toDescriptor));
    expect(server.requests).toHaveLength(1);
  });

  it('selects the platform from an index, even a nested one', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    const amd64 = buildImage([], { architecture: 'amd64' });
    const arm64 = buildImage([], { architecture: 'arm64' });
    for (const image of [amd64, arm64]) server.put(image.manifest.digest, image);
    const inner = buildIndex([
      { manifest: arm64.manifest, architecture: 'arm64' },
      { manifest: amd64.manifest, architecture: 'amd64' },
    ]);
    server.putManifest('inner', inner);
    const outer = buildIndex([{ manifest: inner }]);
    server.putManifest('outer', outer);
    const found = await registry.inspect(`${server.host}/app:outer`);
    expect(found.reference).toBe(`${server.host}/app@${outer.digest}`);
    expect(found.digest).toBe(amd64.manifest.digest);
    await using other = createTestClient([server], { platform: { os: 'linux', architecture: 'arm64' } });
    expect((await other.inspect(`${server.host}/app:outer`)).digest).toBe(arm64.manifest.digest);
  });

  it('lists the available platforms if the requested one is missing', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    server.putManifest('1', buildIndex([{ manifest: buildImage([]).manifest, architecture: 's390x' }]));
    await expect(registry.inspect(`${server.host}/app:1`)).rejects.toMatchObject({
      code: 'SLW_REGISTRY_PLATFORM',
      message: expect.stringMatching(
        /app:1: index sha256:\w+: expected an image for linux\/amd64, found "linux\/s390x"/,
      ),
    });
  });

  it('limits the depth of nested indexes', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    let index: Blob = buildImage([]).manifest;
    for (let depth = 0; depth < 5; depth += 1) {
      index = buildIndex([{ manifest: index, ...(depth === 0 ? { architecture: 'amd64' } : {}) }]);
      server.putManifest(`${depth}`, index);
    }
    await expect(registry.inspect(`${server.host}/app:4`)).rejects.toMatchObject({ code: 'SLW_REGISTRY_LIMIT' });
  });

  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const config = toDescriptor(buildBlob('{}', 'x'));
  it.each([
    ['not JSON', 'expected JSON'],
    ['[]', 'expected an object, found a list'],
    [JSON.stringify({ schemaVersion: 1 }), 'schemaVersion: expected 2, found 1'],
    [JSON.stringify({ schemaVersion: 2, manifests: [], layers: [], config }), 'found both'],
    [JSON.stringify({ schemaVersion: 2, mediaType, manifests: [] }), 'mediaType: expected that of an index'],
    [JSON.stringify({ schemaVersion: 2, mediaType, layers: [] }), 'config: expected a descriptor, found nothing'],
    [JSON.stringify({ schemaVersion: 2, config, layers: [{ ...config, size: -1 }] }), 'layers[0].size'],
    [JSON.stringify({ schemaVersion: 2, config, layers: [{ ...config, digest: '../x' }] }), 'layers[0].digest'],
    [JSON.stringify({ schemaVersion: 2, config, layers: Array.from({ length: 501 }, () => config) }), 'at most 500'],
    [' '.repeat(4 * 1024 * 1024 + 1), 'expected at most 4194304 bytes'],
    [JSON.stringify({ schemaVersion: 2, config: { ...config, size: 9e6 }, layers: [] }), 'at most 8388608 bytes'],
  ])('rejects an invalid manifest (%#)', async (text, why) => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    server.putManifest('1', buildBlob(text, mediaType));
    await expect(registry.inspect(`${server.host}/app:1`)).rejects.toMatchObject({
      code: expect.stringMatching(/^SLW_REGISTRY_(ANSWER|LIMIT)$/),
      message: expect.stringContaining(why),
    });
  });
});

describe('readFile', () => {
  it.each([
    '/release-manifests/image-references',
    'release-manifests/image-references',
    './release-manifests//image-references',
  ])('reads %s from the top layer, and transfers no other', async (path) => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    const image = await releaseImage();
    server.put('4.22', image);
    const file = await registry.readFile(`${server.host}/release:4.22`, path, { maxBytes: 1000 });
    expect(Buffer.from(file ?? []).toString()).toBe('{"kind":"ImageStream"}');
    expect(server.paths).toEqual(['manifests/4.22', `blobs/${image.layers[1]?.digest}`]);
  });

  it.each<Packing>(['gzip', 'zstd', 'none'])('reads a layer with the compression %s', async (packing) => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    const content = Buffer.alloc(300_000, 'a line of a file\n');
    const entries = [
      { name: 'big', content: Buffer.alloc(2_000_000, 7) },
      { name: 'file', content },
      { name: 'after' },
    ];
    server.put('1', buildImage([await buildLayer(entries, packing)]));
    const file = await registry.readFile(`${server.host}/app:1`, 'file', { maxBytes: content.length });
    expect(content.equals(file ?? Buffer.alloc(0))).toBe(true);
  });

  it('returns null after all layers if the image has no such file', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    const image = await releaseImage();
    server.put('1', image);
    expect(await registry.readFile(`${server.host}/app:1`, 'none', { maxBytes: 10 })).toBeNull();
    const [base, top] = image.layers;
    expect(server.paths.slice(1)).toEqual([`blobs/${top?.digest}`, `blobs/${base?.digest}`]);
  });

  it('returns null if a layer removed the file, without fetching the layers below', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    const top = await buildLayer([{ name: 'etc/.wh.conf' }]);
    server.put('1', buildImage([await buildLayer([{ name: 'etc/conf', content: 'x' }]), top]));
    expect(await registry.readFile(`${server.host}/app:1`, 'etc/conf', { maxBytes: 10 })).toBeNull();
    expect(server.paths).toEqual(['manifests/1', `blobs/${top.digest}`]);
  });

  it('follows links in the image: symbolic ones from the top layer, hard ones from their own layer', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    const layers = [
      [
        { name: 'real', content: 'first' },
        { name: 'lib', type: 'symlink' as const, linkname: 'usr/lib' },
      ],
      [
        { name: 'hard', type: 'link' as const, linkname: 'real' },
        { name: 'soft', type: 'symlink' as const, linkname: '/real' },
        { name: 'usr/lib/os-release', content: 'os' },
      ],
      [{ name: 'real', content: 'second' }],
    ];
    server.put('1', buildImage(await Promise.all(layers.map((entries) => buildLayer(entries)))));
    const read = async (path: string): Promise<string> => {
      const bytes = await registry.readFile(`${server.host}/app:1`, path, { maxBytes: 100 });
      return Buffer.from(bytes ?? []).toString();
    };
    expect([await read('hard'), await read('soft'), await read('lib/os-release')]).toEqual(['first', 'second', 'os']);
  });

  it('fails on circular links', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    const entries = [
      { name: 'a', type: 'symlink' as const, linkname: 'b' },
      { name: 'b', type: 'symlink' as const, linkname: 'a' },
    ];
    server.put('1', buildImage([await buildLayer(entries)]));
    await expect(registry.readFile(`${server.host}/app:1`, 'a', { maxBytes: 10 })).rejects.toMatchObject({
      code: 'SLW_REGISTRY_FILE',
      message: expect.stringContaining('app:1: file /a: expected a file, found a chain of more than 5 links'),
    });
  });

  it.each([
    ['large', 'SLW_REGISTRY_LIMIT', 'file /large: expected at most 10 bytes, found 11'],
    ['folder', 'SLW_REGISTRY_FILE', 'file /folder: expected a file, found a directory'],
    ['../large', 'SLW_REGISTRY_FILE', 'without ..'],
    ['/', 'SLW_REGISTRY_FILE', 'expected the path of a file'],
  ])('rejects %s', async (path, code, message) => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    const layer = await buildLayer([
      { name: 'large', content: 'x'.repeat(11) },
      { name: 'folder/', type: 'directory' },
    ]);
    server.put('1', buildImage([layer]));
    await expect(registry.readFile(`${server.host}/app:1`, path, { maxBytes: 10 })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  it('stops at a layer that exceeds the uncompressed limit', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server], { layerBytes: 1_000_000 });
    server.put('1', buildImage([await buildLayer([{ name: 'bomb', content: Buffer.alloc(50_000_000) }])]));
    await expect(registry.readFile(`${server.host}/app:1`, 'x', { maxBytes: 10 })).rejects.toMatchObject({
      code: 'SLW_REGISTRY_LIMIT',
      message: expect.stringContaining('expected at most 1000000 bytes when unpacked, found more'),
    });
  });

  it.each<[string, () => Buffer | Promise<Buffer>]>([
    ['is not an archive', () => Buffer.alloc(2000, 'x')],
    ['is a truncated archive', async () => (await large('none')).subarray(0, 2000)],
    ['is damaged gzip', () => Buffer.concat([Buffer.from('1f8b0800', 'hex'), Buffer.alloc(2000, 'x')])],
    ['is truncated gzip', async () => (await large('gzip')).subarray(0, 30)],
    ['is truncated zstd', async () => (await large('zstd')).subarray(0, 30)],
    ['is zstd that needs too much memory', () => Buffer.from('28b52ffd00a8000000', 'hex')],
  ])('a layer with a correct digest that %s is an error of the image', async (_, make) => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    const layer = buildBlob(await make(), 'application/vnd.oci.image.layer.v1.tar');
    server.put('1', buildImage([layer]));
    await expect(registry.readFile(`${server.host}/app:1`, 'a', { maxBytes: 10_000 })).rejects.toMatchObject({
      code: 'SLW_REGISTRY_LAYER',
      message: expect.stringContaining(`app:1: layer ${layer.digest}: expected a tar archive`),
    });
    expect(server.paths).toHaveLength(2);
  });
});

const large = async (packing: Packing): Promise<Buffer> =>
  (await buildLayer([{ name: 'a', content: 'x'.repeat(5000) }], packing)).bytes;

describe('a client', () => {
  it('limits the concurrent requests per host', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server], { atOnce: 2 });
    const images = Array.from({ length: 12 }, (_, i) => buildImage([], { labels: { number: `${i}` } }));
    for (const image of images) server.put(image.manifest.digest, image);
    // The first response is sent after two requests have arrived.
    const two = Promise.withResolvers<void>();
    server.fail(async ({ concurrent }) => {
      if (concurrent === 2) two.resolve();
      await two.promise;
      return false;
    });
    const found = await Promise.all(
      images.map(({ manifest }) => registry.inspect(`${server.host}/a@${manifest.digest}`)),
    );
    expect(found.map(({ labels }) => labels['number'])).toEqual(images.map((_, i) => `${i}`));
    expect(Math.max(...server.requests.map(({ concurrent }) => concurrent))).toBe(2);
  });

  it('that is closed fails pending and new requests', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server], { atOnce: 1 });
    server.fail(() => true);
    const waiting = [1, 2].map((tag) => registry.inspect(`${server.host}/app:${tag}`));
    for (const one of waiting) one.catch(() => {});
    await expect.poll(() => server.requests.length).toBe(1);
    await registry.close();
    for (const one of waiting) await expect(one).rejects.toMatchObject({ code: 'SLW_REGISTRY_CLOSED' });
    await expect(registry.inspect(`${server.host}/app:1`)).rejects.toMatchObject({ code: 'SLW_REGISTRY_CLOSED' });
  });

  it('stops when its caller aborts, with the reason of the caller', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    const layer = await buildLayer([{ name: 'a', content: 'x' }]);
    server.put('1', buildImage([layer]));
    server.fail((seen, response) => {
      if (!seen.path.includes('blobs')) return false;
      response.writeHead(200).write(layer.bytes.subarray(0, 10));
      return true;
    });
    const stop = new AbortController();
    const reading = registry.readFile(`${server.host}/app:1`, 'a', { maxBytes: 10, signal: stop.signal });
    reading.catch(() => {});
    await expect.poll(() => server.requests.length).toBe(2);
    stop.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
  });

  it.each([
    [{ ca: 'no certificate' }, 'registry CA: expected certificates in PEM, found none'],
    [{ atOnce: 0 }, 'registry option atOnce: expected a number above 0, found 0'],
    [{ silenceMs: Number.NaN }, 'silenceMs'],
  ])('rejects invalid options (%#)', (options, why) => {
    expect(() => createRegistry({ redirectRule: () => null, ...options })).toThrow(
      expect.objectContaining({ code: 'SLW_REGISTRY_OPTIONS', message: expect.stringContaining(why) }),
    );
  });
});
