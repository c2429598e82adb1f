import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { request as plainRequest, type IncomingMessage } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { json } from 'node:stream/consumers';
import { osImageStreamKind, validate } from '@slipway/api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pushImage, pushIndex, removeImage, type Compression } from './image.ts';
import { pushPayload, type Payload } from './payload.ts';
import { resolveRegistry, startRegistry, type RegistryAccess, type RunningRegistry } from './registry.ts';
import { ToolsError } from '../controlplane/errors.ts';

// Without apt there is no registry: a skip, which CI counts as a failure.
const missing = await resolveRegistry().then(
  () => false,
  (error: unknown) => {
    if (error instanceof ToolsError && error.code === 'SLW_TOOLS_NO_APT') return true;
    throw error;
  },
);

// A registry converts to the oldest format unless the client accepts another.
const accept = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
].join(', ');

async function get({ url, ca }: RegistryAccess, path: string, authorization?: string) {
  const headers = { accept, ...(authorization === undefined ? {} : { authorization }) };
  const options = { headers, agent: false as const };
  const asked = ca === '' ? plainRequest(`${url}${path}`, options) : tlsRequest(`${url}${path}`, { ...options, ca });
  const [answer] = (await once(asked.end(), 'response')) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: await json(answer).catch(() => undefined) };
}

const basic = ({ username, password }: { username: string; password: string }) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

const buildPath = ({ host }: RegistryAccess, reference: string, kind = 'manifests') =>
  `/v2/${reference.slice(host.length + 1).replace('@', `/${kind}/`)}`;

describe.skipIf(missing)('a registry for tests', () => {
  let registry: RunningRegistry;
  beforeAll(async () => {
    registry = await startRegistry();
  });
  afterAll(() => registry?.stop());

  it('requires a password, and shows nothing without it', async () => {
    const refused = await get(registry, '/v2/');
    expect(refused.status).toBe(401);
    expect(refused.headers['www-authenticate']).toMatch(/^Basic /);
    expect((await get(registry, '/v2/', basic({ ...registry, password: 'wrong' }))).status).toBe(401);
    expect((await get(registry, '/v2/', basic(registry))).status).toBe(200);
  });

  it.each<[Compression, 'oci' | 'docker', string]>([
    ['gzip', 'oci', 'application/vnd.oci.image.layer.v1.tar+gzip'],
    ['zstd', 'oci', 'application/vnd.oci.image.layer.v1.tar+zstd'],
    ['none', 'oci', 'application/vnd.oci.image.layer.v1.tar'],
    ['gzip', 'docker', 'application/vnd.docker.image.rootfs.diff.tar.gzip'],
    ['none', 'docker', 'application/vnd.docker.image.rootfs.diff.tar'],
  ])('accepts images with layers of %s, of %s', async (compression, mediaTypes, mediaType) => {
    const reference = await pushImage(registry, 'team/image', {
      layers: [{ files: [{ path: 'etc/motd', contents: 'hello\n' }], compression }],
      labels: { compression },
      mediaTypes,
      tag: `${compression}-${mediaTypes}`,
    });
    expect(reference).toMatch(/^127\.0\.0\.1:\d+\/team\/image@sha256:[0-9a-f]{64}$/);
    const { body, headers } = await get(registry, buildPath(registry, reference), basic(registry));
    expect(body).toMatchObject({ layers: [{ mediaType }] });
    expect(reference.endsWith(String(headers['docker-content-digest']))).toBe(true);
    const tagged = await get(registry, `/v2/team/image/manifests/${compression}-${mediaTypes}`, basic(registry));
    expect(tagged.headers['docker-content-digest']).toBe(headers['docker-content-digest']);
  });

  it('has an index of images by architecture', async () => {
    const images = ['amd64', 'arm64'].map((architecture) => ({ layers: [], architecture, labels: { architecture } }));
    const reference = await pushIndex(registry, 'team/index', images, { mediaTypes: 'docker' });
    const { body } = await get(registry, buildPath(registry, reference), basic(registry));
    expect(body).toMatchObject({
      mediaType: 'application/vnd.docker.distribution.manifest.list.v2+json',
      manifests: [{ platform: { architecture: 'amd64' } }, { platform: { architecture: 'arm64', os: 'linux' } }],
    });
  });

  it('no longer has a deleted image, and reports its requests afterwards', async () => {
    const reference = await pushImage(registry, 'team/gone', { layers: [] });
    const uri = buildPath(registry, reference);
    expect((await get(registry, uri, basic(registry))).status).toBe(200);
    await removeImage(registry, reference);
    expect((await get(registry, uri, basic(registry))).status).toBe(404);
    const listRequests = () => registry.requests().filter((each) => each.uri === uri);
    await expect
      .poll(() => listRequests().map(({ method, status }) => `${method} ${status}`))
      .toEqual(['PUT 201', 'GET 200', 'DELETE 202', 'GET 404']);
    expect(listRequests()[1]?.bytes).toBeGreaterThan(100);
  });

  describe('has a release', () => {
    let payload: Payload;
    beforeAll(async () => {
      const lifecycle = { state: 'deprecated', successor: 'rhel-10', message: 'Go on.' } as const;
      payload = await pushPayload(registry, {
        version: '4.22.0',
        streams: [
          { tag: 'rhel-coreos', name: 'rhel-9', version: '9.6.1', lifecycle },
          { tag: 'rhel-coreos-10', name: 'rhel-10', version: '10.1.1', withoutExtensions: true },
          { tag: 'rhel-coreos-8', name: 'rhel-8', version: '8.6.1', unlabelled: true, withoutAnnotations: true },
        ],
      });
    });
    const tag = (name: string) => payload.imageReferences.spec.tags.find((each) => each.name === name);
    const findImages = (stream: string) => {
      const { osImage = '', osExtensionsImage = '' } = payload.os.get(stream) ?? {};
      return { osImage, osExtensionsImage };
    };

    it('under names that an OSImageStream accepts', () => {
      const stream = { name: 'rhel-9', ...findImages('rhel-9') };
      expect(
        validate(osImageStreamKind, {
          apiVersion: 'machineconfiguration.openshift.io/v1',
          kind: 'OSImageStream',
          metadata: { name: 'cluster' },
          spec: { defaultStream: 'rhel-9' },
          status: { availableStreams: [stream], defaultStream: 'rhel-9' },
        }),
      ).toMatchObject({ ok: true });
    });

    it('whose image-references name images that exist and others that do not', () => {
      expect(tag('rhel-coreos')).toMatchObject({
        from: { kind: 'DockerImage', name: findImages('rhel-9').osImage },
        annotations: {
          'io.openshift.build.source-location': 'https://github.com/openshift/os',
          'io.openshift.os.stream-lifecycle': 'deprecated',
          'io.openshift.os.stream-successor': 'rhel-10',
          'io.openshift.os.stream-message': 'Go on.',
        },
      });
      expect(tag('rhel-coreos-extensions')?.from.name).toBe(findImages('rhel-9').osExtensionsImage);
      expect(tag('rhel-coreos-10-extensions')).toBeUndefined();
      expect(payload.os.get('rhel-10')?.osExtensionsImage).toBeUndefined();
      expect(tag('rhel-coreos-8')).not.toHaveProperty('annotations');
    });

    it('with labels that identify each image', async () => {
      expect(await readLabels(findImages('rhel-9').osImage)).toMatchObject({
        'containers.bootc': '1',
        'io.openshift.os.streamclass': 'rhel-9',
        'org.opencontainers.image.version': '9.6.1',
      });
      expect(await readLabels(findImages('rhel-9').osExtensionsImage)).toMatchObject({
        'io.openshift.os.extensions': 'true',
        'io.openshift.os.streamclass': 'rhel-9',
      });
      expect(await readLabels(findImages('rhel-8').osImage)).not.toHaveProperty('io.openshift.os.streamclass');
      expect(await readLabels(payload.releaseImage)).toEqual({ 'io.openshift.release': '4.22.0' });
    });
  });

  async function readLabels(reference: string): Promise<unknown> {
    const { body } = await get(registry, buildPath(registry, reference), basic(registry));
    const { config } = body as { config: { digest: string } };
    const blob = reference.replace(/@.*/, `@${config.digest}`);
    const answer = await get(registry, buildPath(registry, blob, 'blobs'), basic(registry));
    return (answer.body as { config: { Labels: unknown } }).config.Labels;
  }
});

describe.skipIf(missing)('another kind of registry', () => {
  it('issues tokens for a password and accepts only those', async () => {
    const registry = await startRegistry({ auth: 'bearer' });
    try {
      const challenge = (await get(registry, '/v2/', basic(registry))).headers['www-authenticate'];
      expect(challenge).toMatch(/^Bearer realm="https:\/\/127\.0\.0\.1:\d+\/token",service="/);
      await pushImage(registry, 'team/image', { layers: [{ files: [{ path: 'a', contents: 'a' }] }] });
      expect(registry.tokenScopes()).toEqual(['repository:team/image:pull,push,delete']);
      await expect(pushImage({ ...registry, password: 'wrong' }, 'team/image', { layers: [] })).rejects.toThrow(/401/);
    } finally {
      await registry.stop();
    }
  });

  it('speaks plain HTTP without a password if configured, and removes its images when it is stopped', async () => {
    const registry = await startRegistry({ tls: false, auth: 'none' });
    expect(registry.url).toMatch(/^http:/);
    await pushImage(registry, 'image', { layers: [{ files: [{ path: 'a', contents: 'a' }] }] });
    expect((await get(registry, '/v2/_catalog')).body).toEqual({ repositories: ['image'] });
    await registry.stop();
    await expect(get(registry, '/v2/')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(existsSync(registry.directory)).toBe(false);
  });

  it('that cannot start reports why', async () => {
    const program = { ...(await resolveRegistry()), path: '/nowhere/docker-registry' };
    await expect(startRegistry({ program })).rejects.toMatchObject({
      code: 'SLW_TOOLS_START_FAILED',
      message: expect.stringContaining('ENOENT'),
    });
  });
});
