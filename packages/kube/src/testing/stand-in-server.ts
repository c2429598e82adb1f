import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Credentials, fixedCredentials } from '../client/credentials.ts';
import type { ClusterAccess } from '../client/access.ts';

/** One request as the server saw it. */
export interface Seen {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: string;
  /** When it was there in full, by performance.now(). */
  at: number;
}

export type Answer = (seen: Seen, response: ServerResponse) => void | Promise<void>;

/**
 * An HTTP server that misbehaves as a test says, where a real API server cannot be brought to. Requests are counted
 * by what arrived, not by what a client believes that it sent.
 */
export interface StandInServer extends AsyncDisposable {
  readonly seen: Seen[];
  readonly openSockets: number;
  access(credentials?: Credentials): ClusterAccess;
}

export async function startStandInServer(answer: Answer): Promise<StandInServer> {
  const seen: Seen[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://stand-in');
      const one: Seen = {
        method: request.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        at: performance.now(),
      };
      seen.push(one);
      void answer(one, response);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    seen,
    get openSockets() {
      return sockets.size;
    },
    access: (credentials = fixedCredentials({}, 'nobody')) => ({
      source: 'a test',
      server: url,
      ca: undefined,
      tlsServerName: undefined,
      proxy: undefined,
      namespace: 'default',
      credentials,
    }),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function answerJson(response: ServerResponse, status: number, body: unknown, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export const statusBody = (code: number, reason: string, message = reason, details: object = {}): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  details,
  code,
});
