// An API server that speaks HTTP/2 and does with a connection what a real one does only by chance.
import { once } from 'node:events';
import {
  createSecureServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { makeAuthority } from '@slipway/testing/certificates';
import type { ClusterAccess } from '../client/access.ts';
import { fixedCredentials } from '../client/credentials.ts';

export interface Http2Request {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly stream: ServerHttp2Stream;
  readonly session: Http2Session | undefined;
}

export interface Http2Server extends AsyncDisposable {
  readonly port: number;
  readonly requests: readonly Http2Request[];
  /** All connections so far. */
  readonly sessions: readonly ServerHttp2Session[];
  /** Through this port of a proxy, or directly. */
  access(port?: number): ClusterAccess;
}

export const respond = (stream: ServerHttp2Stream, status: number, body: unknown): void => {
  stream.respond({ ':status': status, 'content-type': 'application/json' });
  stream.end(typeof body === 'string' ? body : JSON.stringify(body));
};

export async function startHttp2Server(
  answer: (request: Http2Request) => unknown,
  settings: { maxConcurrentStreams?: number } = {},
): Promise<Http2Server> {
  const authority = await makeAuthority();
  const requests: Http2Request[] = [];
  const sessions: ServerHttp2Session[] = [];
  const server = createSecureServer({ ...(await authority.issue('API server')), settings });
  server.on('session', (session) => void sessions.push(session));
  server.on('sessionError', () => {});
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on('error', () => {});
    const { pathname, searchParams } = new URL(headers[':path'] ?? '/', 'https://server');
    const { session } = stream;
    const request = { method: headers[':method'] ?? '', path: pathname, query: searchParams, stream, session };
    requests.push(request);
    answer(request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    requests,
    sessions,
    access: (at = port) => ({
      source: 'a test',
      server: `https://127.0.0.1:${at}`,
      ca: async () => authority.cert,
      tlsServerName: undefined,
      proxy: undefined,
      namespace: 'default',
      credentials: fixedCredentials({}, 'anonymous'),
    }),
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}
