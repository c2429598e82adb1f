import { makeSelfSigned } from '@slipway/testing/certificates';
import { always, type Fault, firstTimes } from '@slipway/testing/fake-http-server';
import { describe, expect, it } from 'vitest';
import { RegistryError } from './errors.ts';
import { parsePullSecret } from './pull-secret.ts';
import type { Credential } from './registry.ts';
import { createTestClient } from './testing/client.ts';
import { buildImage, buildLayer } from './testing/image.ts';
import { startMisbehavingRegistry } from './testing/misbehaving-registry.ts';
import type { MisbehavingRegistry } from './testing/misbehaving-registry.ts';

const PASSWORD = 'hunter2';
const basic = `Basic ${Buffer.from(`robot:${PASSWORD}`).toString('base64')}`;

const loginFor = (...scopes: string[]): ReadonlyMap<string, Credential> =>
  parsePullSecret(
    JSON.stringify({
      auths: Object.fromEntries(scopes.map((scope) => [scope, { username: 'robot', password: PASSWORD }])),
    }),
  );

const image = buildImage([], { labels: { name: 'app' } });

/** Responds with 401 and a challenge to requests without this header. */
const wants =
  (header: string, challenge: string): Fault =>
  (seen, response) => {
    if (seen.path.startsWith('/token') || seen.headers.authorization === header) return false;
    response.writeHead(401, { 'www-authenticate': challenge }).end();
    return true;
  };

const bearer = (server: MisbehavingRegistry, realm = `http://${server.host}/token`): string =>
  `Bearer realm="${realm}",service="the registry",scope="repository:team/app:pull"`;

/** Issues tokens t1, t2, … for the correct login. */
function serveTokens(server: MisbehavingRegistry, answer: object = {}): void {
  let number = 0;
  server.fail((seen, response) => {
    if (!seen.path.startsWith('/token')) return false;
    if (seen.headers.authorization !== undefined && seen.headers.authorization !== basic) response.writeHead(401).end();
    else response.end(JSON.stringify({ token: `t${(number += 1)}`, ...answer }));
    return true;
  });
}

async function catchFailure(work: Promise<unknown>): Promise<RegistryError> {
  const error = await work.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
  if (!(error instanceof RegistryError)) throw error;
  const said = `${error.stack} ${JSON.stringify(error)}`;
  for (const hidden of [PASSWORD, basic.slice(6)]) expect(said).not.toContain(hidden);
  return error;
}

describe('Basic', () => {
  it('sends the login after a challenge, and then with every request to that repository', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server], { credentials: loginFor(server.host) });
    server.put('1', image);
    server.fail(wants(basic, 'Basic realm="x"'));
    await registry.inspect(`${server.host}/team/app:1`);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([undefined, basic, basic]);
  });

  it('sends the same login without a challenge for other repositories of that host, and no other login', async () => {
    await using server = await startMisbehavingRegistry();
    const other = { username: 'other', password: PASSWORD };
    const credentials = new Map([...loginFor(server.host), [`${server.host}/team/other`, other]]);
    await using registry = createTestClient([server], { credentials });
    server.put('1', image);
    server.fail(wants(basic, 'Basic realm="x"'));
    await registry.layers(`${server.host}/team/app:1`);
    await registry.layers(`${server.host}/team/next:1`);
    await catchFailure(registry.layers(`${server.host}/team/other:1`));
    expect(server.requests.map(({ headers }) => headers.authorization).slice(0, 4)).toEqual([
      undefined,
      basic,
      basic,
      undefined,
    ]);
  });

  it('sends the login of the most specific scope', async () => {
    await using server = await startMisbehavingRegistry();
    const credentials = new Map([
      [server.host, { username: 'all', password: PASSWORD }],
      [`${server.host}/team`, { username: 'team', password: PASSWORD }],
      [`${server.host}/team/app`, { username: 'robot', password: PASSWORD }],
    ]);
    await using registry = createTestClient([server], { credentials });
    server.put('1', image);
    server.fail(wants(basic, 'Basic'));
    await registry.inspect(`${server.host}/team/app:1`);
    const failure = await catchFailure(registry.inspect(`${server.host}/team/other:1`));
    expect(failure.code).toBe('SLW_REGISTRY_UNAUTHORIZED');
    expect(failure.message).toContain(`The login for ${server.host}/team was used`);
  });

  it('a rejected login is tried once', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server], { credentials: loginFor(server.host) });
    server.fail(wants('Basic other', 'Basic'));
    const failure = await catchFailure(registry.inspect(`${server.host}/team/app:1`));
    expect(failure).toMatchObject({ code: 'SLW_REGISTRY_UNAUTHORIZED', status: 401, passing: false });
    expect(server.requests).toHaveLength(2);
  });

  it('a login for another host is not sent, and the message names what is missing', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server], { credentials: loginFor('quay.io') });
    server.fail(wants(basic, 'Basic'));
    const failure = await catchFailure(registry.inspect(`${server.host}/team/app:1`));
    expect(failure.message).toContain(`expected a login in the pull secret, found none for ${server.host}/team/app`);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });
});

describe('Bearer', () => {
  it('fetches a token for reading with the login, and keeps it until it expires', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server], { credentials: loginFor(`${server.host}/team`) });
    server.put('1', image);
    serveTokens(server, { expires_in: 300 });
    let current = 't1';
    server.fail((seen, response) => wants(`Bearer ${current}`, bearer(server))(seen, response));
    await registry.inspect(`${server.host}/team/app:1`);
    const token = server.requests.find(({ path }) => path === '/token');
    expect(Object.fromEntries(token?.query ?? [])).toEqual({
      service: 'the registry',
      scope: 'repository:team/app:pull',
    });
    expect(token?.headers.authorization).toBe(basic);
    registry.clock.advance(290_000);
    await registry.inspect(`${server.host}/team/app:1`);
    expect(server.paths.filter((path) => path === 'token')).toHaveLength(1);
    registry.clock.advance(6000);
    current = 't2';
    await registry.inspect(`${server.host}/team/app:1`);
    expect(server.requests.at(-1)?.headers.authorization).toBe('Bearer t2');
    expect(server.paths.filter((path) => path === 'token')).toHaveLength(2);
  });

  it('works without a login if the registry issues anonymous tokens', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    server.put('1', image);
    serveTokens(server);
    server.fail(wants('Bearer t1', bearer(server)));
    expect((await registry.inspect(`${server.host}/team/app:1`)).labels['name']).toBe('app');
  });

  it('a rejected token is renewed once', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    server.put('1', image);
    serveTokens(server, { expires_in: 3600 });
    let current = 't1';
    server.fail((seen, response) => wants(`Bearer ${current}`, bearer(server))(seen, response));
    await registry.inspect(`${server.host}/team/app:1`);
    current = 't2';
    await registry.inspect(`${server.host}/team/app:1`);
    current = 'none';
    const failure = await catchFailure(registry.inspect(`${server.host}/team/app:1`));
    expect(failure.code).toBe('SLW_REGISTRY_UNAUTHORIZED');
    expect(server.paths.filter((path) => path === 'token')).toHaveLength(3);
  });

  it('concurrent requests share one token', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server], { atOnce: 8 });
    server.put('1', image);
    serveTokens(server);
    // The token is issued after all requests have arrived.
    const asked = Promise.withResolvers<void>();
    let waiting = 0;
    server.fail((seen, response) => {
      if (seen.headers.authorization === 'Bearer t1' || seen.path === '/token') return false;
      waiting += 1;
      if (waiting === 5) asked.resolve();
      return asked.promise.then(() => wants('Bearer t1', bearer(server))(seen, response));
    });
    await Promise.all(Array.from({ length: 5 }, () => registry.inspect(`${server.host}/team/app:1`)));
    expect(server.paths.filter((path) => path === 'token')).toHaveLength(1);
  });

  it('never requests more than read access', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    server.put('1', image);
    serveTokens(server);
    server.fail(wants('Bearer t1', `Bearer realm="http://${server.host}/token",scope="repository:team/app:pull,push"`));
    await registry.inspect(`${server.host}/team/app:1`);
    expect(server.requests.find(({ path }) => path === '/token')?.query.get('scope')).toBe('repository:team/app:pull');
  });

  it('a login that the token server rejects is reported with its host', async () => {
    await using server = await startMisbehavingRegistry();
    await using tokens = await startMisbehavingRegistry();
    await using registry = createTestClient([server, tokens], { credentials: loginFor(server.host) });
    server.fail(wants('Bearer t1', bearer(server, `http://${tokens.host}/token`)));
    tokens.fail(always(/token/, (response) => response.writeHead(401).end()));
    const failure = await catchFailure(registry.inspect(`${server.host}/team/app:1`));
    expect(failure.code).toBe('SLW_REGISTRY_UNAUTHORIZED');
    expect(failure.message).toContain(`app:1: token for manifest 1 from ${tokens.host}: `);
    expect(tokens.requests).toHaveLength(1);
  });

  it('a transient failure of the token server is retried', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    server.put('1', image);
    server.fail(firstTimes(1, /token/, (response) => response.writeHead(503).end()));
    serveTokens(server);
    server.fail(wants('Bearer t1', bearer(server)));
    expect((await registry.inspect(`${server.host}/team/app:1`)).labels['name']).toBe('app');
    expect(registry.clock.slept).toHaveLength(1);
  });

  it.each([
    ['{"token":"two\\nlines hunter2"}', 'expected a token on one line'],
    ['hunter2, not JSON', 'expected a token on one line'],
    ['{}', 'expected a token on one line'],
    [`{"token":"${'x'.repeat(300 * 1024)}"}`, 'expected at most 262144 bytes'],
  ])('an invalid response of the token server is rejected and not shown (%#)', async (answer, why) => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    server.fail(always(/token/, (response) => response.end(answer)));
    server.fail(wants('Bearer t1', bearer(server)));
    expect((await catchFailure(registry.inspect(`${server.host}/team/app:1`))).message).toContain(why);
  });

  it('a hanging token server causes a timeout', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server], { silenceMs: 300, retries: 0 });
    server.fail(always(/token/, () => {}));
    server.fail(wants('Bearer t1', bearer(server)));
    expect((await catchFailure(registry.inspect(`${server.host}/team/app:1`))).code).toBe('SLW_REGISTRY_SILENT');
  });

  it.each(['ftp://a.example.com/token', 'http://user:pw@127.0.0.1/token', 'nowhere', ''])(
    'no login is sent to a token server at %j',
    async (realm) => {
      await using server = await startMisbehavingRegistry();
      await using registry = createTestClient([server], { credentials: loginFor(server.host) });
      server.fail(wants('Bearer t1', bearer(server, realm)));
      expect((await catchFailure(registry.inspect(`${server.host}/team/app:1`))).code).toBe('SLW_REGISTRY_REDIRECT');
    },
  );

  it('no login is sent without TLS unless plain http is allowed for the token server', async () => {
    await using server = await startMisbehavingRegistry();
    await using tokens = await startMisbehavingRegistry();
    await using registry = createTestClient([server], { credentials: loginFor(server.host) });
    server.fail(wants('Bearer t1', bearer(server, `http://${tokens.host}/token`)));
    expect((await catchFailure(registry.inspect(`${server.host}/team/app:1`))).code).toBe('SLW_REGISTRY_REDIRECT');
    expect(tokens.requests).toEqual([]);
  });

  it('redirects of a token server are not followed', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server], { credentials: loginFor(server.host) });
    server.fail(always(/token/, (response) => response.writeHead(302, { location: '/elsewhere' }).end()));
    server.fail(wants('Bearer t1', bearer(server)));
    expect((await catchFailure(registry.inspect(`${server.host}/team/app:1`))).code).toBe('SLW_REGISTRY_REDIRECT');
    expect(server.paths).not.toContain('elsewhere');
  });
});

describe('a redirect', () => {
  it('to another host, as for layers, is followed without the login', async () => {
    await using server = await startMisbehavingRegistry();
    await using store = await startMisbehavingRegistry();
    await using registry = createTestClient([server, store], { credentials: loginFor(server.host, store.host) });
    const layer = await buildLayer([{ name: 'file', content: 'x' }]);
    for (const one of [server, store]) one.put('1', buildImage([layer]));
    server.fail(wants(basic, 'Basic'));
    server.fail(
      always(/blobs/, (response, { path }) => {
        response.writeHead(307, { location: `http://${store.host}${path}?signature=hunter2` }).end();
      }),
    );
    const file = await registry.readFile(`${server.host}/team/app:1`, 'file', { maxBytes: 10 });
    expect(Buffer.from(file ?? []).toString()).toBe('x');
    expect(store.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    store.fail(always(/blobs/, (response) => response.writeHead(401, { 'www-authenticate': 'Basic' }).end()));
    const failure = await catchFailure(registry.readFile(`${server.host}/team/app:1`, 'file', { maxBytes: 10 }));
    expect(failure.code).toBe('SLW_REGISTRY_UNAUTHORIZED');
    expect(failure.host).toBe(store.host);
    expect(store.requests.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
  });

  it('to another host and back does not receive the login', async () => {
    await using server = await startMisbehavingRegistry();
    await using store = await startMisbehavingRegistry();
    await using registry = createTestClient([server, store], { credentials: loginFor(server.host) });
    server.put('1', image);
    server.fail(wants(basic, 'Basic'));
    server.fail(always(/blobs/, (response) => response.writeHead(302, { location: `http://${store.host}/x` }).end()));
    store.fail(always(/x/, (response) => response.writeHead(302, { location: `http://${server.host}/log` }).end()));
    await catchFailure(registry.inspect(`${server.host}/team/app:1`));
    expect(server.requests.find(({ path }) => path === '/log')).not.toHaveProperty('headers.authorization');
  });

  it('within the host keeps the login', async () => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server], { credentials: loginFor(server.host) });
    server.put('1', image);
    server.fail(wants(basic, 'Basic'));
    server.fail(firstTimes(1, /manifests/, (response, { path }) => response.writeHead(301, { location: path }).end()));
    await registry.inspect(`${server.host}/team/app:1`);
    expect(server.requests.at(-1)?.headers.authorization).toBe(basic);
  });

  it.each([
    ['http://elsewhere.example.com/x', 'expected https, found plain http to elsewhere.example.com'],
    ['file:///etc/passwd', 'expected https, found file:'],
    ['http://user:hunter2@elsewhere.example.com/x', 'with a valid URL, found none'],
    ['', 'found more than|found another redirect'],
  ])('to %j is not followed', async (location, why) => {
    await using server = await startMisbehavingRegistry();
    await using registry = createTestClient([server]);
    server.fail(always(/./, (response) => response.writeHead(302, { location }).end()));
    const failure = await catchFailure(registry.inspect(`${server.host}/team/app:1`));
    expect(failure.code).toBe('SLW_REGISTRY_REDIRECT');
    expect(failure.message).toMatch(new RegExp(why));
    expect(server.requests.length).toBeLessThanOrEqual(6);
  });
});

describe('an address that a registry must not send clients to', () => {
  // The rule of the test: this machine is public under its address, and private under its name.
  const redirectRule = (from: readonly string[], to: string): string | null =>
    from.includes('127.0.0.1') && ['127.0.0.1', '::1'].includes(to) ? 'it is an address of the test' : null;
  const local = ({ host }: { host: string }): string => host.replace('127.0.0.1', 'localhost');

  it.each([
    ['a name', (store: { host: string }) => local(store), '127.0.0.1|::1'],
    ['an address', () => '127.0.0.2:1', '127.0.0.2'],
    ['an address of IPv6', () => '[::1]:1', '::1'],
  ])('is not connected to, as the target of a redirect to %s', async (_, find, address) => {
    await using server = await startMisbehavingRegistry();
    await using store = await startMisbehavingRegistry();
    const host = find(store);
    const rule = (from: readonly string[], to: string) =>
      redirectRule(from, to) ?? (to === '127.0.0.2' ? 'it is an address of the test' : null);
    await using registry = createTestClient([server], { plainHttp: [server.host, host], redirectRule: rule });
    server.put('1', image);
    server.fail(
      always(/blobs/, (response, { path }) => response.writeHead(307, { location: `http://${host}${path}` }).end()),
    );
    const failure = await catchFailure(registry.inspect(`${server.host}/team/app:1`));
    expect(failure.code).toBe('SLW_REGISTRY_REDIRECT');
    expect(failure.message).toMatch(new RegExp(`may send clients to.*(${address}): it is an address of the test`));
    expect(store.requests).toEqual([]);
  });

  it('is not connected to, and does not receive the login, as a token server', async () => {
    await using server = await startMisbehavingRegistry();
    await using tokens = await startMisbehavingRegistry();
    const plainHttp = [server.host, local(tokens)];
    await using registry = createTestClient([], { plainHttp, redirectRule, credentials: loginFor(server.host) });
    server.fail(wants('Bearer t1', bearer(server, `http://${local(tokens)}/token`)));
    const failure = await catchFailure(registry.inspect(`${server.host}/team/app:1`));
    expect(failure.code).toBe('SLW_REGISTRY_REDIRECT');
    expect(tokens.requests).toEqual([]);
  });

  it('is a matter of the rule: another registry may send clients there', async () => {
    await using server = await startMisbehavingRegistry();
    await using store = await startMisbehavingRegistry();
    await using registry = createTestClient([], { plainHttp: [server.host, local(store)], redirectRule: () => null });
    for (const one of [server, store]) one.put('1', image);
    server.fail(
      always(/blobs/, (response, { path }) => {
        response.writeHead(307, { location: `http://${local(store)}${path}` }).end();
      }),
    );
    expect((await registry.inspect(`${server.host}/team/app:1`)).labels['name']).toBe('app');
    expect(store.requests).toHaveLength(1);
  });
});

describe('TLS', () => {
  it('is used, and the certificate is verified against the given authority', async () => {
    const certificate = await makeSelfSigned('registry');
    await using server = await startMisbehavingRegistry(certificate);
    server.put('1', image);
    await using registry = createTestClient([], { ca: certificate.cert, credentials: loginFor(server.host) });
    server.fail(wants(basic, 'Basic'));
    expect((await registry.inspect(`${server.host}/team/app:1`)).labels['name']).toBe('app');
  });

  it('with an untrusted certificate fails without a retry, even if the environment disables verification', async () => {
    await using server = await startMisbehavingRegistry(await makeSelfSigned('registry'));
    server.put('1', image);
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      await using registry = createTestClient([]);
      const failure = await catchFailure(registry.inspect(`${server.host}/team/app:1`));
      expect(failure).toMatchObject({ code: 'SLW_REGISTRY_TLS', passing: false });
      expect(failure.message).toContain('Add the authority that signed it');
      expect(server.requests).toEqual([]);
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
  });

  it('with a certificate for another name fails', async () => {
    const certificate = await makeSelfSigned('registry', ['127.0.0.9']);
    await using server = await startMisbehavingRegistry(certificate);
    await using registry = createTestClient([], { ca: certificate.cert });
    expect((await catchFailure(registry.inspect(`${server.host}/app:1`))).message).toContain('ALTNAME_INVALID');
  });

  it('is required even if the registry does not support it', async () => {
    await using server = await startMisbehavingRegistry();
    server.put('1', image);
    await using registry = createTestClient([]);
    const failure = await catchFailure(registry.inspect(`${server.host}/team/app:1`));
    expect(failure.code).toBe('SLW_REGISTRY_TLS');
    expect(failure.message).toContain('must be allowed by its host (plain http)');
    expect(server.requests).toEqual([]);
  });

  it('a token server without TLS never receives the login of a registry with TLS', async () => {
    const certificate = await makeSelfSigned('registry');
    await using server = await startMisbehavingRegistry(certificate);
    await using tokens = await startMisbehavingRegistry();
    await using registry = createTestClient([tokens], { ca: certificate.cert, credentials: loginFor(server.host) });
    server.fail(wants('Bearer t1', bearer(server, `http://${tokens.host}/token`)));
    expect((await catchFailure(registry.inspect(`${server.host}/team/app:1`))).code).toBe('SLW_REGISTRY_REDIRECT');
    expect(tokens.requests).toEqual([]);
  });
});
