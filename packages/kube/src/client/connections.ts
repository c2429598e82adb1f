// The connections to one API server: one with HTTP/2, or one for each concurrent request with HTTP/1.1.
import { agentDefaults } from '@slipway/base/http';
import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import type { ClusterAccess } from './access.ts';
import type { ClientCertificate } from './credentials.ts';
import { createHttp2Connections, Http1OnlyError, type PingTimes } from './http2.ts';

/** What a connection was opened with. Another CA or client certificate needs other connections. */
export interface Trust {
  readonly ca: string | undefined;
  readonly certificate: ClientCertificate | undefined;
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

export interface Exchange {
  readonly method: Method;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | null;
  /** Until the response starts. */
  readonly headersTimeoutMs: number;
  /** How long the response may be silent; 0: for any time. */
  readonly silenceMs: number;
  readonly signal: AbortSignal | null;
  /** Called once connected, right before the first byte is sent: connecting may take long. Throws to stop. */
  beforeSend(this: void): void;
  /** The server has not read it, by its own account. */
  onUnread(this: void): void;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Body;
}

export type Body = AsyncIterable<Buffer> & { destroy(): unknown };

export interface Connections {
  send(exchange: Exchange): Promise<Answer>;
  /** Accepts no more requests. Responses continue to their end. */
  retire(): void;
  destroy(): Promise<void>;
}

/** With `pings`: one HTTP/2 connection, unless the server does not speak HTTP/2. Without: HTTP/1.1. */
export function createConnections(
  access: ClusterAccess,
  { ca, certificate }: Trust,
  pings: PingTimes | undefined,
): Connections {
  const origin = new URL(access.server);
  const tls = {
    // Explicit, so that no environment variable can turn it off.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
    ...(access.tlsServerName === undefined ? {} : { servername: access.tlsServerName }),
    ...certificate,
  };
  const common = { ...agentDefaults, keepAliveTimeout: 30_000 };
  // HTTP proxies and `kubectl proxy`, which has no TLS, are in front of single clients: HTTP/1.1 will do.
  if (access.proxy !== undefined) {
    const proxy = { uri: access.proxy, proxyTls: { rejectUnauthorized: true }, requestTls: tls };
    return createHttp1Connections(origin, () => new ProxyAgent({ ...proxy, ...common }));
  }
  const http1 = (): Connections =>
    createHttp1Connections(origin, () => new Agent({ ...common, connect: { ...tls, timeout: 10_000 } }));
  if (pings === undefined || origin.protocol === 'http:') return http1();
  return preferHttp2(createHttp2Connections(origin, tls, pings), http1);
}

/** A server, or a proxy in front of it, may not speak HTTP/2. It is asked with the first connection. */
function preferHttp2(http2: Connections, openHttp1: () => Connections): Connections {
  let chosen = http2;
  return {
    async send(exchange) {
      const used = chosen;
      try {
        return await used.send(exchange);
      } catch (error) {
        if (!(error instanceof Http1OnlyError) || used !== http2) throw error;
        if (chosen === http2) chosen = openHttp1();
        return chosen.send(exchange);
      }
    },
    retire() {
      http2.retire();
      if (chosen !== http2) chosen.retire();
    },
    async destroy() {
      await Promise.all([http2.destroy(), chosen.destroy()]);
    },
  };
}

function createHttp1Connections({ origin }: URL, open: () => Dispatcher): Connections {
  const dispatcher = open();
  return {
    async send(exchange) {
      const { method, path, headers, body, headersTimeoutMs, silenceMs, signal, beforeSend } = exchange;
      const answer = await startingWith(dispatcher, beforeSend).request({
        origin,
        path,
        method,
        headers,
        body,
        headersTimeout: headersTimeoutMs,
        bodyTimeout: silenceMs,
        signal,
      });
      // Readers get the error from the iterator. Without a listener it would crash the process before anything reads.
      answer.body.on('error', () => {});
      return { status: answer.statusCode, headers: answer.headers, body: answer.body };
    },
    retire: () => void dispatcher.close().catch(() => {}),
    destroy: () => dispatcher.destroy(),
  };
}

function startingWith(dispatcher: Dispatcher, beforeSend: () => void): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => {
    const begin = handler.onRequestStart?.bind(handler);
    handler.onRequestStart = (controller, context): void => {
      beforeSend();
      begin?.(controller, context);
    };
    return dispatch(options, handler);
  });
}
