import { createHash } from 'node:crypto';
import { startTcpFaultProxy, type TcpFaultProxy } from '@slipway/testing/tcp-fault-proxy';
import {
  pushImage,
  pushLayer,
  pushPayload,
  startRegistry,
  type Compression,
  type LayerFile,
  type LayerSpec,
  type PushedLayer,
  type RunningRegistry,
} from '@slipway/tools/registry';
import { sampleCases } from '@slipway/testing/sample';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Clients, file, layer, readText } from './registry/clients.ts';
import { isRegistryMissing } from './registry/missing.ts';
import { readFileInProcess } from './registry/read-file-process.ts';

const MB = 1_000_000;
const PATH = '/release-manifests/image-references';

const missing = await isRegistryMissing();

describe.skipIf(missing)('the client of a real registry', () => {
  let registry: RunningRegistry;
  const clients = new Clients();

  beforeAll(async () => {
    registry = await startRegistry();
  });
  afterEach(() => clients.close());
  afterAll(() => registry?.stop());

  describe('reads a file out of the layers', () => {
    it('of a release: its image-references as they were put there', async () => {
      const payload = await pushPayload(registry, {
        version: '4.22.0',
        streams: [
          { tag: 'rhel-coreos', name: 'rhel-9', version: '9.6.20251201-1' },
          { tag: 'rhel-coreos-10', name: 'rhel-10', version: '10.1.20251202-0' },
        ],
      });
      const client = clients.of(registry);
      const read = await readText(client, payload.releaseImage, PATH);
      expect(JSON.parse(read ?? '')).toEqual(payload.imageReferences);
      expect((await client.inspect(payload.os.get('rhel-10')?.osImage ?? '')).labels).toMatchObject({
        'containers.bootc': '1',
        'io.openshift.os.streamclass': 'rhel-10',
      });
    });

    const old = layer(file('release-manifests/image-references', 'old'), file('etc/below', 'below'));
    it.each<[string, LayerSpec[], string | null]>([
      ['the topmost that has it', [old, layer(file('release-manifests/image-references', 'new'))], 'new'],
      ['one below, where those above say nothing of it', [old, layer(file('etc/other', 'x'))], 'old'],
      ['none, where a layer above took the file away', [old, layer({ path: PATH.slice(1), whiteout: true })], null],
      [
        'none, where a layer above took its directory away',
        [old, layer({ path: 'release-manifests', whiteout: true })],
        null,
      ],
      [
        'none, where a layer above emptied its directory',
        [old, layer({ path: 'release-manifests', opaque: true })],
        null,
      ],
      [
        'the one put there in a directory that the same layer emptied',
        [old, layer({ path: 'release-manifests', opaque: true }, file('release-manifests/image-references', 'new'))],
        'new',
      ],
      [
        'one above the layer that took it away',
        [
          old,
          layer({ path: PATH.slice(1), whiteout: true }),
          layer(file('release-manifests/image-references', 'again')),
        ],
        'again',
      ],
      ['none, where no layer has it', [layer(file('etc/other', 'x'))], null],
    ])('%s', async (_, layers, found) => {
      const reference = await pushImage(registry, 'team/layers', { layers });
      expect(await readText(clients.of(registry), reference, PATH)).toBe(found);
    });

    it.each<[Compression, 'oci' | 'docker']>([
      ['gzip', 'oci'],
      ['zstd', 'oci'],
      ['none', 'oci'],
      ['gzip', 'docker'],
      ['none', 'docker'],
    ])('compressed with %s, of %s', async (compression, mediaTypes) => {
      const files = [{ path: 'before', randomBytes: 2 * MB }, file('release-manifests/image-references', 'here')];
      const reference = await pushImage(registry, 'team/compressed', { layers: [{ files, compression }], mediaTypes });
      expect(await readText(clients.of(registry), reference, PATH)).toBe('here');
    });

    it('but none that is larger than was allowed', async () => {
      const reference = await pushImage(registry, 'team/large', {
        layers: [layer({ path: 'large', randomBytes: MB })],
      });
      await expect(clients.of(registry).readFile(reference, '/large', { maxBytes: MB - 1 })).rejects.toMatchObject({
        code: 'SLW_REGISTRY_LIMIT',
      });
      expect(await clients.of(registry).readFile(reference, '/large', { maxBytes: MB })).toHaveLength(MB);
    });
  });

  describe('reads from a release of five layers of 100 MB', () => {
    const LAYER = 100 * MB;
    const MOST_MEMORY = 64 * MB;
    const references = JSON.stringify({ kind: 'ImageStream', padding: 'x'.repeat(300_000) });
    const sha256 = createHash('sha256').update(references).digest('hex');
    const name = 'openshift/release';
    let proxy: TcpFaultProxy;
    const below: PushedLayer[] = [];

    beforeAll(async () => {
      proxy = await startTcpFaultProxy(registry.port);
      for (const each of ['one', 'two', 'three', 'four']) {
        const old = file('release-manifests/image-references', `of layer ${each}`);
        below.push(await pushLayer(registry, name, large(each, 'none', old)));
      }
      // Node keeps what it makes of the sources. A process that has to make it first has memory left over from that, and
      // would seem to need some 12 MB less.
      await read(await pushImage(registry, name, { layers: [layer(found)] }));
    });
    afterAll(() => proxy?.close());

    const large = (unique: string, compression: Compression, ...files: LayerFile[]): LayerSpec => ({
      files: [{ path: `usr/${unique}`, randomBytes: LAYER }, ...files],
      compression,
    });
    const found = file('release-manifests/image-references', references);

    interface Reading {
      sha256: string | null;
      memory: number;
      received: number;
    }

    /** Through the proxy, in a process of its own. */
    async function read(reference: string): Promise<Reading> {
      const host = `127.0.0.1:${proxy.port}`;
      const started = proxy.received;
      const { username, password } = registry;
      const answer = await readFileInProcess({
        options: { ca: registry.ca },
        credentials: [[host, { username, password }]],
        reference: reference.replace(registry.host, host),
        path: PATH,
        maxBytes: 4 * MB,
      });
      const memory = answer.peak - answer.before;
      const received = proxy.received - started;
      return { sha256: answer.sha256, memory, received };
    }

    async function measure(what: string, reference: string): Promise<Reading> {
      const reading = await read(reference);
      const [received, memory] = [reading.received, reading.memory].map((bytes) => (bytes / MB).toFixed(1));
      console.log(`${what}: ${received} MB received, ${memory} MB of memory`);
      return reading;
    }

    // TLS records and answers beside the layers.
    const BESIDE = 0.01 * LAYER;

    it.each(sampleCases<Compression>('large layers', ['gzip', 'zstd'], 1 / 2))(
      'the topmost layer alone when the file is in it (%s), in less than 64 MB of memory',
      async (compression) => {
        const top = large(`five-${compression}`, compression, found);
        const reference = await pushImage(registry, name, { layers: [...below, top] });
        const measured = await measure(
          `image-references in the topmost of 5 layers of 100 MB, ${compression}`,
          reference,
        );
        expect(measured.sha256).toBe(sha256);
        expect(measured.received).toBeGreaterThan(LAYER);
        expect(measured.received).toBeLessThan(LAYER + BESIDE);
        expect(measured.memory).toBeLessThan(MOST_MEMORY);
      },
    );

    it('no layer below the one that takes the file away', async () => {
      const top = large('five', 'none', { path: PATH.slice(1), whiteout: true });
      const reference = await pushImage(registry, name, { layers: [...below, top] });
      const measured = await measure('image-references taken away by the topmost of 5 layers of 100 MB', reference);
      expect(measured.sha256).toBeNull();
      expect(measured.received).toBeLessThan(LAYER + BESIDE);
      expect(measured.memory).toBeLessThan(MOST_MEMORY);
    });

    it('the right file when the connection is cut in the middle of a layer', async () => {
      const layers = [layer({ path: 'usr/cut', randomBytes: 20 * MB }, found)];
      const reference = await pushImage(registry, name, { layers });
      proxy.cutAfter(10 * MB);
      const measured = await read(reference);
      expect(proxy.cuts).toBe(1);
      expect(measured.received).toBeGreaterThan(20 * MB);
      expect(measured.sha256).toBe(sha256);
    });
  });
});
