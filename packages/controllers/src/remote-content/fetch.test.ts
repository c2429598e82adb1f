import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { type Fetched, type FetchRequest, gzip, parse, resolve } from '@slipway/ignition';
import { type Identity, makeAuthority } from '@slipway/testing/certificates';
import { type RequestHandler, startFakeServer } from '@slipway/testing/fake-http-server';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createFetcher, type NodeFetcherOptions } from './fetch.ts';

const LOCAL = { allowAddresses: ['127.0.0.0/8'] };
const authority = await makeAuthority();
const tls = await authority.issue('Test Server', ['files.example.test', '127.0.0.1']);
const open: AsyncDisposable[] = [];

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const server of open.splice(0)) await server[Symbol.asyncDispose]();
});

async function serve(answer: RequestHandler, options?: { tls: Identity }): Promise<string> {
  const server = await startFakeServer(answer, options);
  open.push(server);
  return server.url;
}

const serveTls = (answer: RequestHandler): Promise<string> => serve(answer, { tls });

const requestFor = (url: string): FetchRequest => ({
  url,
  headers: [],
  proxy: {},
  certificateAuthorities: [],
  timeouts: { responseHeadersMs: 5000, totalMs: 5000 },
  maxBytes: 1000,
  maxRedirects: 3,
  hosts: LOCAL,
  signal: new AbortController().signal,
});

const fetchFrom = (url: string, changes: Partial<FetchRequest> = {}, options: NodeFetcherOptions = {}) =>
  createFetcher({ backoffMs: 1, ...options })({ ...requestFor(url), ...changes });

const text = (fetched: Fetched) => (fetched.ok ? Buffer.from(fetched.bytes).toString() : `failed: ${fetched.problem}`);
const answer =
  (body: string): RequestHandler =>
  (_, response) =>
    response.end(body);
const failed = (problem: RegExp) => ({ ok: false, problem: expect.stringMatching(problem) });

describe('the fetcher', () => {
  it('sends what the real client sends: its headers, those of the config, no HTTP compression', async () => {
    const url = await serve((request, response) => response.end(JSON.stringify(request.headers)));
    const headers = [
      { name: 'Authorization', value: 'Bearer abc' },
      { name: 'Host', value: 'elsewhere' },
    ];
    const seen: unknown = JSON.parse(text(await fetchFrom(url, { headers })));
    expect(seen).toMatchObject({
      authorization: 'Bearer abc',
      'accept-encoding': 'identity',
      accept: expect.stringContaining('application/vnd.coreos.ignition+json'),
      host: new URL(url).host,
    });
  });

  it('sends the credentials of the URL', async () => {
    const url = await serve((request, response) => response.end(request.headers.authorization));
    expect(text(await fetchFrom(url.replace('//', '//core:p%40ss%zz@')))).toBe(`Basic ${btoa('core:p@ss%zz')}`);
  });

  it('follows redirects, and sends the config’s headers only to the first server', async () => {
    const target = await serve((request, response) => response.end(request.headers.authorization ?? 'no credentials'));
    const url = await serve((_, response) => response.writeHead(302, { location: `${target}/x` }).end());
    expect(text(await fetchFrom(url, { headers: [{ name: 'Authorization', value: 'secret' }] }))).toBe(
      'no credentials',
    );
  });

  it.each([
    [
      'to the metadata service',
      'http://169.254.169.254/latest/meta-data',
      /redirects, but the host 169\.254\.169\.254/,
    ],
    ['to the metadata service in disguise', 'http://[::ffff:a9fe:a9fe]/', /leads to 169\.254\.169\.254/],
    ['to a file', 'file:///etc/shadow', /redirects to a file: URL/],
    ['to nowhere', 'http://', /not a URL/],
  ])('does not follow a redirect %s', async (_, location, problem) => {
    const url = await serve((_request, response) => response.writeHead(302, { location }).end());
    expect(await fetchFrom(url)).toEqual(failed(problem));
  });

  it('gives up a redirect loop', async () => {
    let asked = 0;
    const url = await serve((_, response) => {
      asked += 1;
      response.writeHead(301, { location: '/' }).end();
    });
    expect(await fetchFrom(url)).toEqual(failed(/more than 3 times, which is the limit/));
    expect(asked).toBe(4);
  });

  it('refuses loopback unless it is allowed', async () => {
    const url = await serve(answer('inside'));
    expect(await fetchFrom(url, { hosts: {} })).toEqual(
      failed(/127\.0\.0\.1 is not allowed: it is a loopback address/),
    );
  });

  it('refuses a name that resolves to a refused address, and connects to the address it checked', async () => {
    const url = (await serve(answer('reached'))).replace('127.0.0.1', 'files.example.test');
    const names = (...addresses: string[]) => ({
      lookup: async () => addresses.map((address) => ({ address, family: 4 })),
    });
    expect(await fetchFrom(url, {}, names('169.254.169.254'))).toEqual(
      failed(/resolves to 169\.254\.169\.254, which is/),
    );
    expect(text(await fetchFrom(url, {}, names('169.254.169.254', '127.0.0.1')))).toBe('reached');
    let asked = 0;
    const rebinding = { lookup: async () => [{ address: asked++ === 0 ? '127.0.0.1' : '169.254.169.254', family: 4 }] };
    expect(text(await fetchFrom(url, {}, rebinding))).toBe('reached');
    expect(asked).toBe(1);
  });

  it('stops an endless body at the limit', async () => {
    let closed = false;
    const url = await serve((_, response) => {
      const pour = () => {
        while (response.writable && response.write('x'.repeat(1000)));
      };
      response.on('drain', pour).on('close', () => (closed = true));
      pour();
    });
    expect(await fetchFrom(url, { maxBytes: 50_000 })).toEqual(failed(/larger than the limit of 50000 bytes/));
    await expect.poll(() => closed).toBe(true);
  });

  it('gives up on a server that never responds, and on one that never ends', async () => {
    const silent = await serve(() => undefined);
    const timeouts = { responseHeadersMs: 5000, totalMs: 100 };
    expect(await fetchFrom(silent, { timeouts })).toEqual(failed(/no complete response within 0\.1 s/));
    const stuck = await serve((_, response) => response.write('half'));
    expect(await fetchFrom(stuck, { timeouts })).toEqual(failed(/no complete response within 0\.1 s/));
  });

  it('retries after a 503, but not after a 404, and reports how often it tried', async () => {
    let asked = 0;
    const url = await serve((request, response) => {
      asked += 1;
      const status = request.path === '/gone' ? 404 : asked < 3 ? 503 : 200;
      response.writeHead(status).end('at last');
    });
    expect(text(await fetchFrom(url))).toBe('at last');
    asked = 0;
    expect(await fetchFrom(`${url}/gone`)).toEqual(failed(/404/));
    expect(asked).toBe(1);
    const broken = await serve((_, response) => response.writeHead(500).end());
    expect(await fetchFrom(broken)).toEqual(failed(/returned 500 \(tried 4 times\)/));
  });

  it.each([429, 503])('is not asked again before the time that it asked for with %i', async (status) => {
    let asked = 0;
    const url = await serve((_, response) => {
      asked += 1;
      response.writeHead(status, { 'retry-after': '300' }).end();
    });
    const fetch = createFetcher();
    const request = requestFor(url);
    expect(await fetch(request)).toEqual(failed(/the server asked for a pause, of which 300 s are left/));
    expect(await fetch(request)).toEqual(failed(/the server asked for a pause, of which 300 s are left/));
    expect(asked).toBe(1);
  });

  it('stops retrying when the time is up', async () => {
    const url = await serve((_, response) => response.writeHead(503).end());
    const timeouts = { responseHeadersMs: 1000, totalMs: 200 };
    expect(await fetchFrom(url, { timeouts }, { attempts: 1000, backoffMs: 100 })).toEqual(failed(/within 0\.2 s/));
  });

  it('trusts the CAs of the config, and no unknown one', async () => {
    const url = await serveTls(answer('over TLS'));
    expect(await fetchFrom(url)).toEqual(failed(/not signed by a trusted CA\. Add the CA/));
    expect(text(await fetchFrom(url, { certificateAuthorities: [authority.cert] }))).toBe('over TLS');
    const other = (await makeAuthority('Another')).cert;
    expect(await fetchFrom(url, { certificateAuthorities: [other] })).toEqual(failed(/trusted CA/));
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    expect(await fetchFrom(url, { certificateAuthorities: [broken] })).toEqual(failed(/not valid PEM/));
  });

  it('verifies certificates, whatever the environment asks Node to do', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const url = await serveTls(answer('over TLS'));
    expect(await fetchFrom(url)).toEqual(failed(/not signed by a trusted CA/));
  });

  it('does not downgrade from https to http', async () => {
    const plain = await serve(answer('plain'));
    const url = await serveTls((_, response) => response.writeHead(302, { location: plain }).end());
    expect(await fetchFrom(url, { certificateAuthorities: [authority.cert] })).toEqual(failed(/from https to http/));
  });

  it('refuses a certificate for another host', async () => {
    const url = (await serveTls(answer('x'))).replace('127.0.0.1', 'other.example.test');
    const lookup = async () => [{ address: '127.0.0.1', family: 4 }];
    expect(await fetchFrom(url, { certificateAuthorities: [authority.cert] }, { lookup })).toEqual(
      failed(/another host/),
    );
  });
});

describe('a proxy of the config', () => {
  /** A proxy that answers plain requests itself and tunnels CONNECT to one port. */
  async function startProxy(tunnelTo: number): Promise<string> {
    const proxy = createServer((request, response) => response.end(`asked the proxy for ${request.url}`));
    proxy.on('connect', (_request, client, head) => {
      const upstream = connect(tunnelTo, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.write(head);
        upstream.pipe(client).pipe(upstream);
      });
      upstream.on('error', () => client.destroy());
      client.on('error', () => upstream.destroy());
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    open.push({
      async [Symbol.asyncDispose]() {
        proxy.close();
        proxy.closeAllConnections();
      },
    });
    return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  }

  it('is used for http and, as a tunnel, for https', async () => {
    const secure = await serveTls(answer('through the tunnel'));
    const port = Number(new URL(secure).port);
    const httpProxy = await startProxy(port);
    const proxy = { httpProxy, httpsProxy: httpProxy };
    expect(text(await fetchFrom('http://files.example.test/a', { proxy }))).toBe(
      'asked the proxy for http://files.example.test/a',
    );
    const certificateAuthorities = [authority.cert];
    const https = `https://files.example.test:${port}/`;
    expect(text(await fetchFrom(https, { proxy, certificateAuthorities }))).toBe('through the tunnel');
    expect(await fetchFrom(https, { proxy })).toEqual(failed(/not signed by a trusted CA/));
  });

  it('must itself be at an allowed address, and cannot reach a refused one', async () => {
    const httpProxy = await startProxy(1);
    const url = 'http://files.example.test/a';
    expect(await fetchFrom(url, { proxy: { httpProxy }, hosts: {} })).toEqual(
      failed(/the proxy 127\.0\.0\.1 is not allowed/),
    );
    const hosts = { ...LOCAL, allowHosts: ['files.example.test'] };
    expect(await fetchFrom(url, { proxy: { httpProxy }, hosts })).toEqual(
      failed(/the proxy 127\.0\.0\.1 is not allowed/),
    );
    expect(await fetchFrom('http://169.254.169.254/', { proxy: { httpProxy } })).toEqual(failed(/link-local/));
  });
});

describe('resolve over the network', () => {
  const fetch = createFetcher({ backoffMs: 1 });

  async function resolveFile(contents: object, extra: object = {}) {
    const { config } = parse({
      ignition: { version: '3.4.0', ...extra },
      storage: { files: [{ path: '/etc/x', contents }] },
    });
    if (config === null) throw new Error('the test config does not parse');
    return resolve(config, { name: 'MachineConfig 99-worker', fetch, hosts: LOCAL, limits: { singleBytes: 100_000 } });
  }

  it('puts contents fetched with the config’s CA into the config', async () => {
    const url = await serveTls(answer('hello\n'));
    const certificateAuthorities = [{ source: `data:,${encodeURIComponent(authority.cert)}` }];
    const { config, report } = await resolveFile({ source: url }, { security: { tls: { certificateAuthorities } } });
    expect(report).toEqual([]);
    expect(config?.storage?.files?.[0]?.contents?.source).toBe('data:,hello%0A');
  });

  it('names the field, the config and the URL (without its query) when the hash is wrong', async () => {
    const url = `${await serve(answer('other'))}/file?token=secret`;
    const { config, report } = await resolveFile({ source: url, verification: { hash: `sha256-${'0'.repeat(64)}` } });
    expect(config).toBeNull();
    expect(report).toMatchObject([{ code: 'SLW_RESOLVE_HASH', path: 'storage.files[0].contents.source' }]);
    expect(report[0]?.message).toMatch(/MachineConfig 99-worker.*127\.0\.0\.1.*\/file.*hash sha256-d9298a/);
    expect(JSON.stringify(report)).not.toContain('secret');
  });

  it('stops a gzip bomb', async () => {
    const bomb = await gzip(new Uint8Array(20_000_000));
    const url = await serve((_, response) => response.end(bomb));
    const { report } = await resolveFile({ source: url, compression: 'gzip' });
    expect(report).toMatchObject([{ code: 'SLW_RESOLVE_LIMIT' }]);
  });
});
