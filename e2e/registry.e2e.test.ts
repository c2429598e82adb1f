import type { MirrorRule } from '@slipway/registry';
import { pushImage, pushIndex, removeImage, startRegistry, type RunningRegistry } from '@slipway/tools/registry';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Clients, file, layer, readText } from './registry/clients.ts';
import { isRegistryMissing } from './registry/missing.ts';

const MB = 1_000_000;

const missing = await isRegistryMissing();

describe.skipIf(missing)('the client of a real registry', () => {
  let registry: RunningRegistry;
  const clients = new Clients();

  beforeAll(async () => {
    registry = await startRegistry();
  });
  afterEach(() => clients.close());
  afterAll(() => registry?.stop());

  describe('says what an image is', () => {
    it.each(['oci', 'docker'] as const)('its labels and the sizes of its layers, of %s', async (mediaTypes) => {
      const reference = await pushImage(registry, `team/${mediaTypes}`, {
        layers: [layer({ path: 'large', randomBytes: 3 * MB }), layer(file('small', 'x'))],
        labels: { 'containers.bootc': '1', 'io.openshift.os.streamclass': 'rhel-9' },
        architecture: 'amd64',
        mediaTypes,
      });
      const platform = { os: 'linux', architecture: 'amd64' };
      const image = await clients.of(registry, { platform }).inspect(reference);
      expect(image).toMatchObject({
        reference,
        digest: reference.split('@')[1],
        platform,
        labels: { 'containers.bootc': '1', 'io.openshift.os.streamclass': 'rhel-9' },
      });
      const sizes = image.layers.map(({ size }) => size);
      expect(sizes[0]).toBeGreaterThan(3 * MB);
      expect(sizes[1]).toBeLessThan(1000);
      const config = image.size - sizes.reduce((sum, size) => sum + size, 0);
      expect(config).toBeGreaterThan(100);
      expect(config).toBeLessThan(1000);
      // What was said of a layer is what a registry sends.
      const blob = `/v2/team/${mediaTypes}/blobs/${image.layers[1]?.digest}`;
      expect(await readText(clients.of(registry, { platform }), reference, '/small')).toBe('x');
      await expect
        .poll(() => registry.requests().find(({ method, uri }) => method === 'GET' && uri === blob)?.bytes)
        .toBe(sizes[1]);
    });

    it.each(['oci', 'docker'] as const)('out of an index of %s, for the platform asked for', async (mediaTypes) => {
      const images = ['amd64', 'arm64'].map((architecture) => ({
        layers: [layer(file('etc/architecture', architecture))],
        labels: { architecture },
        architecture,
      }));
      const name = `team/${mediaTypes}-index`;
      const reference = await pushIndex(registry, name, images, { mediaTypes });
      const digests = new Set<string>();
      for (const architecture of ['amd64', 'arm64']) {
        const client = clients.of(registry, { platform: { os: 'linux', architecture } });
        const image = await client.inspect(reference);
        expect(image).toMatchObject({ reference, platform: { architecture }, labels: { architecture } });
        digests.add(image.digest);
        expect(await readText(client, reference, '/etc/architecture')).toBe(architecture);
      }
      expect([...digests, reference.split('@')[1]]).toHaveLength(3);
      await expect(
        clients.of(registry, { platform: { os: 'linux', architecture: 's390x' } }).inspect(reference),
      ).rejects.toMatchObject({
        code: 'SLW_REGISTRY_PLATFORM',
        message: expect.stringContaining('arm64'),
      });
    });

    it('by a tag: which digest it means now', async () => {
      const first = await pushImage(registry, 'team/tagged', { layers: [layer(file('a', '1'))], tag: 'latest' });
      const client = clients.of(registry);
      expect((await client.inspect(`${registry.host}/team/tagged:latest`)).reference).toBe(first);
      const second = await pushImage(registry, 'team/tagged', { layers: [layer(file('a', '2'))], tag: 'latest' });
      expect(second).not.toBe(first);
      expect((await client.inspect(`${registry.host}/team/tagged:latest`)).reference).toBe(second);
    });

    it('once: asked again by digest, the registry hears nothing of it', async () => {
      const reference = await pushImage(registry, 'team/once', { layers: [], labels: { a: 'b' } });
      const client = clients.of(registry);
      await client.inspect(reference);
      await removeImage(registry, reference);
      expect((await client.inspect(reference)).labels).toEqual({ a: 'b' });
      await expect(clients.of(registry).inspect(reference)).rejects.toMatchObject({
        code: 'SLW_REGISTRY_NOT_FOUND',
        message: expect.stringContaining(reference),
      });
    });
  });

  describe('shows who it is', () => {
    let reference: string;
    beforeAll(async () => {
      reference = await pushImage(registry, 'team/private', { layers: [layer(file('a', 'private'))] });
    });
    const scoped = (scopes: Record<string, string>) =>
      new Map(Object.entries(scopes).map(([scope, password]) => [scope, { username: registry.username, password }]));

    it('and is refused with a wrong password, which no message repeats', async () => {
      const client = clients.of(registry, { credentials: scoped({ [registry.host]: 'not-the-password' }) });
      const failure: unknown = await client.inspect(reference).catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code: 'SLW_REGISTRY_UNAUTHORIZED',
        message: expect.stringContaining(registry.host),
      });
      expect(String(failure)).not.toContain('not-the-password');
      await expect(clients.of(registry, { credentials: new Map() }).inspect(reference)).rejects.toMatchObject({
        code: 'SLW_REGISTRY_UNAUTHORIZED',
      });
    });

    it('by the credential with the most specific scope', async () => {
      const { host, password } = registry;
      const other = await pushImage(registry, 'other/private', { layers: [] });
      const right = clients.of(registry, {
        credentials: scoped({ [host]: 'wrong', [`${host}/team`]: password, [`${host}/te`]: 'wrong' }),
      });
      expect((await right.inspect(reference)).reference).toBe(reference);
      await expect(right.inspect(other)).rejects.toMatchObject({ code: 'SLW_REGISTRY_UNAUTHORIZED' });
      const wrong = clients.of(registry, {
        credentials: scoped({ [host]: password, [`${host}/team/private`]: 'wrong' }),
      });
      await expect(wrong.inspect(reference)).rejects.toMatchObject({ code: 'SLW_REGISTRY_UNAUTHORIZED' });
      expect((await wrong.inspect(other)).reference).toBe(other);
    });

    it('by a token that allows no more than to pull', async () => {
      const tokens = await startRegistry({ auth: 'bearer' });
      try {
        const there = await pushImage(tokens, 'team/image', { layers: [layer(file('a', 'by token'))] });
        const client = clients.of(tokens);
        expect(await readText(client, there, '/a')).toBe('by token');
        expect(new Set(tokens.tokenScopes().slice(1))).toEqual(new Set(['repository:team/image:pull']));
        const wrong = clients.of({ ...tokens, password: 'wrong' });
        await expect(wrong.inspect(there)).rejects.toMatchObject({ code: 'SLW_REGISTRY_UNAUTHORIZED' });
      } finally {
        await tokens.stop();
      }
    });
  });

  describe('trusts nobody by accident', () => {
    /** What clients have asked for of a repository; those who push put. */
    const listRequests = (at: RunningRegistry, name: string) =>
      at.requests().filter(({ method, uri }) => method !== 'PUT' && uri.startsWith(`/v2/${name}/manifests/`));

    it('a certificate of an authority that it was not given is refused before anything is asked', async () => {
      const reference = await pushImage(registry, 'team/untrusted', { layers: [] });
      await expect(clients.of(registry, { ca: undefined }).inspect(reference)).rejects.toMatchObject({
        code: 'SLW_REGISTRY_TLS',
        message: expect.stringContaining(registry.host),
      });
      await clients.of(registry).inspect(await pushImage(registry, 'team/trusted', { layers: [] }));
      await expect.poll(() => listRequests(registry, 'team/trusted').map(({ status }) => status)).toContain(200);
      expect(listRequests(registry, 'team/untrusted')).toEqual([]);
    });

    it('plain http is refused unless this host is allowed it', async () => {
      const plain = await startRegistry({ tls: false });
      try {
        const reference = await pushImage(plain, 'team/plain', { layers: [layer(file('a', 'plain'))] });
        await expect(clients.of(plain).inspect(reference)).rejects.toMatchObject({ code: 'SLW_REGISTRY_TLS' });
        const allowed = clients.of(plain, { plainHttp: [plain.host] });
        expect(await readText(allowed, reference, '/a')).toBe('plain');
        await expect.poll(() => listRequests(plain, 'team/plain').map(({ status }) => status)).toContain(200);
      } finally {
        await plain.stop();
      }
    });
  });

  describe('goes to a mirror', () => {
    const buildMirror = (source: string, location: string): MirrorRule => ({
      source,
      mirrors: [{ location, plainHttp: false }],
      fallback: true,
      for: 'digests',
      blocked: false,
    });

    it('for an image whose own registry cannot be reached, and keeps its name', async () => {
      const there = await pushImage(registry, 'mirror/os', {
        layers: [layer(file('a', 'mirrored'))],
        labels: { at: 'mirror' },
      });
      const source = `quay.slipway.invalid/openshift/os@${there.split('@')[1]}`;
      const client = clients.of(registry, {
        mirrors: [buildMirror('quay.slipway.invalid/openshift', `${registry.host}/mirror`)],
      });
      expect(await client.inspect(source)).toMatchObject({ reference: source, labels: { at: 'mirror' } });
      expect(await readText(client, source, '/a')).toBe('mirrored');
      // By tag it may be another image there.
      await expect(client.inspect('quay.slipway.invalid/openshift/os:latest')).rejects.toMatchObject({
        code: 'SLW_REGISTRY_UNREACHABLE',
      });
    });

    it('and to the source when the mirror does not have it', async () => {
      const reference = await pushImage(registry, 'team/unmirrored', { layers: [], labels: { at: 'source' } });
      const mirror = buildMirror(`${registry.host}/team`, `${registry.host}/empty`);
      expect((await clients.of(registry, { mirrors: [mirror] }).inspect(reference)).labels).toEqual({ at: 'source' });
      const listRequests = () =>
        registry.requests().filter(({ uri }) => uri.startsWith('/v2/empty/unmirrored/manifests/'));
      await expect.poll(() => listRequests().map(({ status }) => status)).toContain(404);
      const never = clients.of(registry, { mirrors: [{ ...mirror, fallback: false }] });
      await expect(never.inspect(reference)).rejects.toMatchObject({ code: 'SLW_REGISTRY_NOT_FOUND' });
    });
  });
});
