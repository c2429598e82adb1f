import { beforeEach, describe, expect, it } from 'vitest';
import { type FileSystem, makeDirectories, ownOwners } from '../host/file-system.ts';
import { emptyImage } from '../host/testing/disk-image.ts';
import { createMemoryDisk } from '../host/testing/memory-disk.ts';
import { findCredential, openImageSizes, readCredentials, readRegistryOptions } from './sizes.ts';
import { buildImageName } from './testing/sample-sets.ts';

const PATH = '/var/lib/machine-config-daemon/image-sizes.json';
const sized = (size: number) => ({ layers: [{ digest: 'sha256:l', size }] });
let files: FileSystem;
beforeEach(() => {
  files = createMemoryDisk(emptyImage(ownOwners()));
});

describe('the sizes of images', () => {
  it('are known after a restart, and for the same image in any registry', async () => {
    const sizes = await openImageSizes(files);
    sizes.add(buildImageName('a'), sized(7));
    await sizes.save(new Set());
    const again = await openImageSizes(files);
    expect(again.get(buildImageName('a'))).toEqual(sized(7));
    expect(again.get(buildImageName('a').replace('registry.', 'mirror.'))).toEqual(sized(7));
    expect(again.has(buildImageName('b'))).toBe(false);
    expect(await files.lookAt(PATH)).toMatchObject({ mode: 0o600 });
  });

  it('are not written if nothing is new', async () => {
    await (await openImageSizes(files)).save(new Set());
    expect(await files.lookAt(PATH)).toBeNull();
  });

  it.each(['', 'no json', '[]', '{"sha256:a":"much"}', '{"sha256:a":[["l"]]}', '{"sha256:a":[[1,"l"]]}', 'null'])(
    'are queried again if %j is on the disk',
    async (text) => {
      for (const path of ['/var', '/var/lib', '/var/lib/machine-config-daemon']) {
        await files.makeDirectory(path, { ...ownOwners(), mode: 0o755 });
      }
      await files.createFile(PATH, { ...ownOwners(), mode: 0o600, bytes: Buffer.from(text) });
      expect((await openImageSizes(files)).has('x@sha256:a')).toBe(false);
    },
  );

  it('are dropped if there are too many, the needed ones last', async () => {
    const sizes = await openImageSizes(files);
    const names = Array.from({ length: 5010 }, (_, index) => buildImageName(index.toString(16).padStart(4, '0')));
    for (const name of names) sizes.add(name, sized(1));
    const kept = new Set(names.slice(0, 20));
    await sizes.save(kept);
    expect(names.filter((name) => sizes.has(name))).toHaveLength(5000);
    expect([...kept].every((name) => sizes.has(name))).toBe(true);
  });
});

async function write(path: string, text: string): Promise<void> {
  await makeDirectories(files, path.slice(0, path.lastIndexOf('/')), ownOwners());
  await files.createFile(path, { ...ownOwners(), mode: 0o600, bytes: Buffer.from(text) });
}
const auth = (login: string) => ({ auth: Buffer.from(login).toString('base64') });
const digest = `sha256:${'a'.repeat(64)}`;

describe('registry access of a machine', () => {
  it('uses the most specific entry of its pull secret', async () => {
    const auths = {
      'registry.example.com': auth('all:1'),
      'registry.example.com/team': auth('team:2'),
      'registry.example.com:5000': auth('port:3'),
    };
    await write('/var/lib/kubelet/config.json', JSON.stringify({ auths }));
    const credentials = await readCredentials(files);
    const login = async (image: string) => (await findCredential(`${image}@${digest}`, credentials))?.username ?? null;
    expect(await login('registry.example.com/other/app')).toBe('all');
    expect(await login('registry.example.com/team/app')).toBe('team');
    expect(await login('REGISTRY.example.com/teams/app')).toBe('all');
    expect(await login('registry.example.com:5000/team/app')).toBe('port');
    expect(await login('registry.example.org/team/app')).toBeNull();
  });

  it('works without a pull secret, and reports what is wrong with one, but not its contents', async () => {
    expect(await findCredential(`registry.example.com/app@${digest}`, await readCredentials(files))).toBeNull();
    await write('/var/lib/kubelet/config.json', '{"auths":{"registry.example.com":{"auth":"c2VjcmV0"}}}');
    const error: unknown = await readCredentials(files).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'SLW_REGISTRY_PULL_SECRET' });
    expect(String(error)).not.toMatch(/c2VjcmV0|secret$/);
  });

  it('uses the mirrors and certificates of the container runtime', async () => {
    const mirrored = (source: string) =>
      `[[registry]]\nlocation = "${source}"\n[[registry.mirror]]\nlocation = "mirror.example.com/${source}"\n`;
    await write('/etc/containers/registries.conf', mirrored('a.example.com'));
    await write('/etc/containers/registries.conf.d/10-more.conf', mirrored('b.example.com'));
    await write('/etc/containers/registries.conf.d/README', 'not TOML');
    const pem = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';
    await write('/etc/containers/certs.d/mirror.example.com/ca.crt', pem);
    await write('/etc/containers/certs.d/mirror.example.com/client.key', 'secret');
    const options = await readRegistryOptions(files);
    expect(options.mirrors?.map(({ source }) => source)).toEqual(['a.example.com', 'b.example.com']);
    expect(options.ca).toBe(pem);
  });

  it('works without any of these files', async () => {
    expect(await readRegistryOptions(files)).toEqual({ credentials: new Map(), mirrors: [], plainHttp: [] });
  });
});
