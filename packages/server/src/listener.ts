import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Log } from '@slipway/kube';
import { clientOfAddress, createConnectionTable, type ConnectionLimits } from './connections.ts';
import { ServerError } from './errors.ts';
import type { ServerMetrics } from './metrics.ts';
import type { RefusalLog } from './refusal-log.ts';
import type { ServingCertificate } from './source.ts';

export interface ListenLimits extends ConnectionLimits {
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

export interface ListenerOptions {
  limits: ListenLimits;
  metrics: ServerMetrics;
  log: Log;
  refusals: RefusalLog;
  /** Returns whether the request is of an authorized machine. */
  handle(this: void, request: IncomingMessage, response: ServerResponse): boolean;
}

/** HTTPS with limits on all input. A connection serves one request. */
export function createListener({ limits, metrics, log, refusals, handle }: ListenerOptions): Listener {
  const table = createConnectionTable(limits);
  const sockets = new Map<string, Socket>();

  /** Connections beyond the limit are closed immediately: clients retry, as after 503. */
  function admit(socket: Socket): void {
    const [id, from] = [idOf(socket), socket.remoteAddress ?? ''];
    const admission = table.open(id, clientOfAddress(from), performance.now());
    if (admission.do === 'refuse') {
      metrics.dropped();
      refusals.warn(clientOfAddress(from), { from }, 'closed a new connection, because too many are open');
      socket.destroy();
      return;
    }
    if (admission.do === 'evict') {
      metrics.dropped();
      const fields = { from: admission.client, for: from };
      refusals.warn(admission.client, fields, 'closed an idle connection, because too many are open');
      sockets.get(admission.id)?.destroy();
    }
    sockets.set(id, socket);
    socket.on('close', () => {
      // Otherwise its client already has a new connection from the same port.
      if (sockets.get(id) !== socket) return;
      table.close(id);
      sockets.delete(id);
    });
  }

  const server: Server = createServer(
    {
      ...tls,
      handshakeTimeout: limits.handshakeMs,
      headersTimeout: limits.headMs,
      requestTimeout: limits.headMs,
      maxHeaderSize: limits.headBytes,
      connectionsCheckingInterval: Math.min(1000, limits.headMs),
    },
    (request, response) => {
      const id = idOf(request.socket);
      if (handle(request, response)) table.serve(id);
    },
  );
  server.maxRequestsPerSocket = 1;
  server.keepAliveTimeout = 1;
  // Not `maxConnections`, which closes new connections whichever client holds the others.
  server.on('connection', admit);
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
    connections: () => table.size,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The socket below TLS and the one above have the same. */
const idOf = ({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string =>
  `${remoteAddress} ${remotePort}`;

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
