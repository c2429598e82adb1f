import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Log } from '@slipway/kube';
import { ServerError } from './errors.ts';
import type { ServerMetrics } from './metrics.ts';
import type { ServingCertificate } from './source.ts';

export interface ListenLimits {
  /** Connections beyond this are closed immediately: clients retry, as after 503. */
  connections: number;
  /** For the TLS handshake, and again for the whole request head after it. */
  handshakeMs: number;
  headMs: number;
  headBytes: number;
}

export interface Address {
  host: string;
  port: number;
}

export interface Listener {
  /** Resolves once it listens. */
  listen(address: Address): Promise<Address>;
  /** For new connections; open ones keep their certificate. Throws if it is unusable. */
  setCertificate(certificate: ServingCertificate): void;
  connections(): number;
  close(): Promise<void>;
}

const tls = { minVersion: 'TLSv1.2' } as const;

/** HTTPS with limits on all input. A connection serves one request. */
export function createListener(
  limits: ListenLimits,
  metrics: ServerMetrics,
  log: Log,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Listener {
  let connections = 0;
  const server: Server = createServer(
    {
      ...tls,
      handshakeTimeout: limits.handshakeMs,
      headersTimeout: limits.headMs,
      requestTimeout: limits.headMs,
      maxHeaderSize: limits.headBytes,
      connectionsCheckingInterval: Math.min(1000, limits.headMs),
    },
    handle,
  );
  server.maxConnections = limits.connections;
  server.maxRequestsPerSocket = 1;
  server.keepAliveTimeout = 1;
  server.on('connection', (socket) => {
    connections += 1;
    socket.on('close', () => (connections -= 1));
  });
  server.on('drop', () => metrics.dropped());
  server.on('tlsClientError', (error, socket) => {
    metrics.handshakeFailed();
    log.debug({ err: error, from: socket.remoteAddress }, 'TLS handshake failed');
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuseBroken(error, socket));

  return {
    listen({ host, port }) {
      const { promise, resolve, reject } = Promise.withResolvers<Address>();
      server.once('error', (error: NodeJS.ErrnoException) => {
        const reason = error.code === 'EADDRINUSE' ? 'another process listens there' : error.message;
        reject(
          new ServerError('SLW_SERVER_LISTEN', `cannot listen on ${host} port ${port}: ${reason}`, { cause: error }),
        );
      });
      server.listen({ host, port, backlog: limits.connections }, () => {
        const address = server.address();
        resolve({ host, port: typeof address === 'object' && address !== null ? address.port : port });
      });
      return promise;
    },
    setCertificate: (certificate) => server.setSecureContext({ ...tls, ...certificate }),
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const brokenStatus: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

/** Input that is not HTTP, too long or too slow never becomes a request. */
function refuseBroken(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (socket.writable) {
    const status = brokenStatus[error.code ?? ''] ?? '400 Bad Request';
    socket.write(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  }
  // Not end(): a client that does not read must not keep the connection open.
  socket.destroy();
}
