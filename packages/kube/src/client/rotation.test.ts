// The files of an access are replaced while programs run: the API server's CA, client certificates, tokens.
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Authority, makeAuthority } from '@slipway/testing/certificates';
import { type FakeServer, respondJson, startFakeServer } from '@slipway/testing/fake-http-server';
import { pickFreePort } from '@slipway/tools/controlplane';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { makeScratch } from '../testing/scratch.ts';
import { type ClusterAccess, inCluster } from './access.ts';
import { loadKubeconfig } from './kubeconfig.ts';
import { createTransport, type Request } from './transport.ts';

const read: Request = { method: 'GET', path: '/api', retry: 'never', what: 'get Thing a' };
const atOnce = { lookEveryMs: 0 };
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const serveAs = async (authority: Authority, port: number): Promise<FakeServer> =>
  startFakeServer((seen, response) => respondJson(response, 200, { token: seen.headers.authorization ?? '' }), {
    tls: await authority.issue('API server'),
    port,
  });

/** Replaced as the kubelet and cert-manager do: a reader sees the old file or the new one. */
async function replace(path: string, content: string): Promise<void> {
  await writeFile(`${path}.new`, content);
  await rename(`${path}.new`, path);
}

interface Rotating {
  access: ClusterAccess;
  /** Writes the file that contains the CA. */
  trust(this: void, pem: string): Promise<void>;
}

function kubeconfig(port: number, cluster: object, user: object = { token: 'one' }): string {
  return stringify({
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${port}`, ...cluster } }],
    users: [{ name: 'u', user }],
  });
}

const places: Record<string, (directory: string, port: number, first: string) => Promise<Rotating>> = {
  'the file that a kubeconfig names': async (directory, port, first) => {
    const path = join(directory, 'kubeconfig');
    const trust = (pem: string): Promise<void> => replace(join(directory, 'ca.crt'), pem);
    await trust(first);
    await writeFile(path, kubeconfig(port, { 'certificate-authority': 'ca.crt' }));
    return { access: await loadKubeconfig([path], undefined, atOnce), trust };
  },
  'the data in a kubeconfig': async (directory, port, first) => {
    const path = join(directory, 'kubeconfig');
    const trust = (pem: string): Promise<void> =>
      replace(path, pem === '' ? '' : kubeconfig(port, { 'certificate-authority-data': base64(pem) }));
    await trust(first);
    return { access: await loadKubeconfig([path], undefined, atOnce), trust };
  },
  'the service account of a pod': async (directory, port, first) => {
    const trust = (pem: string): Promise<void> => replace(join(directory, 'ca.crt'), pem);
    await trust(first);
    await writeFile(join(directory, 'token'), 'one');
    await writeFile(join(directory, 'namespace'), 'here');
    const env = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(port) };
    const access = await inCluster(env, directory, atOnce);
    if (access === undefined) throw new Error('not in a pod');
    return { access, trust };
  },
};

describe.each(Object.entries(places))('the API server’s CA in %s', (_, make) => {
  it('is followed when it is replaced, without a restart', async () => {
    await using scratch = await makeScratch();
    const [old, next] = [await makeAuthority('old'), await makeAuthority('new')];
    const port = await pickFreePort();
    const { access, trust } = await make(scratch.path, port, old.cert);
    const transport = createTransport(access);
    const before = await serveAs(old, port);
    await transport.json(read);
    await before.stop();
    await using _after = await serveAs(next, port);
    await expect(transport.json(read)).rejects.toMatchObject({ code: 'SLW_KUBE_TLS' });
    await trust(next.cert);
    expect(await transport.json(read)).toEqual({ token: 'Bearer one' });
    await transport.close();
  });

  it('may be a bundle of the old and the new one, in any order', async () => {
    await using scratch = await makeScratch();
    const [old, next] = [await makeAuthority('old'), await makeAuthority('new')];
    const port = await pickFreePort();
    const { access, trust } = await make(scratch.path, port, old.cert);
    const transport = createTransport(access);
    await trust(`${old.cert}\n${next.cert}`);
    const before = await serveAs(old, port);
    expect(await transport.json(read)).toEqual({ token: 'Bearer one' });
    await before.stop();
    await using _after = await serveAs(next, port);
    expect(await transport.json(read)).toEqual({ token: 'Bearer one' });
    await transport.close();
  });

  it('stays the last valid one while its file is empty or only half written', async () => {
    await using scratch = await makeScratch();
    const authority = await makeAuthority();
    const port = await pickFreePort();
    const { access, trust } = await make(scratch.path, port, authority.cert);
    const transport = createTransport(access);
    await using _server = await serveAs(authority, port);
    for (const broken of ['', authority.cert.slice(0, 200), `${authority.cert}\n${authority.cert.slice(0, 300)}`]) {
      await trust(broken);
      expect(await transport.json(read)).toEqual({ token: 'Bearer one' });
    }
    await transport.close();
  });
});

it('a token in a kubeconfig is followed when the kubeconfig is written again', async () => {
  await using scratch = await makeScratch();
  const authority = await makeAuthority();
  await using server = await serveAs(authority, 0);
  const path = join(scratch.path, 'kubeconfig');
  const cluster = { 'certificate-authority-data': base64(authority.cert) };
  await writeFile(path, kubeconfig(server.port, cluster));
  const transport = createTransport(await loadKubeconfig([path], undefined, atOnce));
  expect(await transport.json(read)).toEqual({ token: 'Bearer one' });
  await replace(path, kubeconfig(server.port, cluster, { token: 'two' }));
  expect(await transport.json(read)).toEqual({ token: 'Bearer two' });
  await replace(path, 'half a kubecon: [');
  expect(await transport.json(read)).toEqual({ token: 'Bearer two' });
  await transport.close();
});

it('a kubeconfig that names its new CA before that file is there is followed once it is', async () => {
  await using scratch = await makeScratch();
  const [old, next] = [await makeAuthority('old'), await makeAuthority('new')];
  await using server = await serveAs(next, 0);
  const path = join(scratch.path, 'kubeconfig');
  await writeFile(join(scratch.path, 'old.crt'), old.cert);
  await writeFile(path, kubeconfig(server.port, { 'certificate-authority': 'old.crt' }));
  const transport = createTransport(await loadKubeconfig([path], undefined, atOnce));
  await replace(path, kubeconfig(server.port, { 'certificate-authority': 'new.crt' }));
  await expect(transport.json(read)).rejects.toMatchObject({ code: 'SLW_KUBE_TLS' });
  await writeFile(join(scratch.path, 'new.crt'), next.cert);
  expect(await transport.json(read)).toEqual({ token: 'Bearer one' });
  await transport.close();
});

it('a kubeconfig that was read a moment ago is read again once its token is refused, and parsed until it can be used', async () => {
  await using scratch = await makeScratch();
  const { cert } = await makeAuthority();
  const [path, ca] = [join(scratch.path, 'kubeconfig'), join(scratch.path, 'new.crt')];
  await writeFile(path, kubeconfig(1, { 'certificate-authority-data': base64(cert) }));
  const { credentials } = await loadKubeconfig([path], undefined, { lookEveryMs: 3_600_000 });
  await replace(path, kubeconfig(1, { 'certificate-authority': ca }, { token: 'two' }));
  expect(await credentials.current()).toEqual({ token: 'one' });
  await credentials.refresh();
  expect(await credentials.current()).toEqual({ token: 'one' });
  await writeFile(ca, cert);
  expect(await credentials.current()).toEqual({ token: 'two' });
});

describe('credentials for another server are not sent to the one that is connected', () => {
  it.each<[string, (port: number, cluster: object) => string]>([
    [
      'after the current context has changed',
      (port, cluster) =>
        stringify({
          'current-context': 'there',
          contexts: [
            { name: 'here', context: { cluster: 'c', user: 'u' } },
            { name: 'there', context: { cluster: 'd', user: 'v' } },
          ],
          clusters: [
            { name: 'c', cluster: { server: `https://127.0.0.1:${port}`, ...cluster } },
            { name: 'd', cluster: { server: 'https://there.example.com', ...cluster } },
          ],
          users: [
            { name: 'u', user: { token: 'one' } },
            { name: 'v', user: { token: 'for-another-server' } },
          ],
        }),
    ],
    [
      'after the context has got another address',
      (_, cluster) =>
        kubeconfig(1, { ...cluster, server: 'https://there.example.com' }, { token: 'for-another-server' }),
    ],
  ])('%s', async (_, change) => {
    await using scratch = await makeScratch();
    const authority = await makeAuthority();
    await using server = await serveAs(authority, 0);
    const path = join(scratch.path, 'kubeconfig');
    const cluster = { 'certificate-authority-data': base64(authority.cert) };
    await writeFile(path, kubeconfig(server.port, cluster));
    const transport = createTransport(await loadKubeconfig([path], undefined, atOnce));
    await replace(path, change(server.port, cluster));
    expect(await transport.json(read)).toEqual({ token: 'Bearer one' });
    await transport.close();
  });
});
