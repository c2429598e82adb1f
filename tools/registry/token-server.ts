import { createHash, randomBytes, sign, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Identity } from '../controlplane/certificates.ts';
import type { TokenIssuer } from './configuration.ts';

export interface TokenServer extends TokenIssuer {
  /** The scopes of issued tokens, in order. */
  readonly given: readonly string[];
  stop(): Promise<void>;
}

const ISSUER = 'slipway-tests';
const SERVICE = 'slipway-registry';
const LIFE_SECONDS = 300;

/** Issues the registry's tokens in exchange for the password, like the token service of a public registry. */
export async function startTokenServer(
  identity: Identity,
  { username, password }: { username: string; password: string },
): Promise<TokenServer> {
  const expected = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const given: string[] = [];
  const server = createServer({ cert: identity.certificate, key: identity.key }, (request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'https://tokens');
    if (request.headers.authorization !== expected || searchParams.get('service') !== SERVICE) {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"errors":[{"code":"UNAUTHORIZED"}]}');
      return;
    }
    const scopes = searchParams.getAll('scope');
    given.push(...scopes);
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ token: tokenFor(identity, username, scopes), expires_in: LIFE_SECONDS }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    service: SERVICE,
    issuer: ISSUER,
    given,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** A JSON web token for the registry's token authentication; it trusts the embedded certificate by its issuer. */
function tokenFor({ certificate, key }: Identity, subject: string, scopes: readonly string[]): string {
  const now = Math.floor(Date.now() / 1000);
  const header = { typ: 'JWT', alg: 'ES256', x5c: [new X509Certificate(certificate).raw.toString('base64')] };
  const claims = {
    iss: ISSUER,
    sub: subject,
    aud: SERVICE,
    exp: now + LIFE_SECONDS,
    nbf: now - 60,
    iat: now,
    jti: createHash('sha256').update(randomBytes(16)).digest('hex'),
    access: scopes.map(parseScope),
  };
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

/** `repository:team/image:pull,push` */
function parseScope(scope: string) {
  const [type = '', name = '', actions = ''] = scope.split(':');
  return { type, name, actions: actions.split(',') };
}
