// HTTP/2 to an API server: one connection for all watches and requests of a program. Node's own client is used because
// Undici's has no limit for the answer to a ping, and ends a running watch after a GOAWAY, with a false timeout.
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { isIP } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { systemCode } from '@slipway/base/http';
import type { Answer, Body, Connections, Exchange } from './connections.ts';

export interface PingTimes {
  readonly everyMs: number;
  /** For the answer. */
  readonly timeoutMs: number;
}

/** A connection whose packets are dropped without a word is noticed within 40 seconds. */
export const DEFAULT_PINGS: PingTimes = { everyMs: 25_000, timeoutMs: 15_000 };

const CONNECT_TIMEOUT_MS = 10_000;
/** Until the server has sent its limit; Kubernetes' is 100 or more. */
const MAX_STREAMS = 100;
/** What one response, and all of a connection, may have in transit: a list of 10,000 Nodes is 130 MB. */
const STREAM_WINDOW = 4 * 1024 * 1024;
const CONNECTION_WINDOW = 16 * 1024 * 1024;

/** Requests that wait to be sent count: 64 of the largest objects at the same time. */
const MAX_SESSION_MEGABYTES = 128;

/** The server speaks only HTTP/1.1. Nothing was sent. */
export class Http1OnlyError extends Error {}

/** The server has not read the request, by its own account: it may be sent again on another connection. */
class UnprocessedError extends Error {
  readonly code = 'ERR_HTTP2_REFUSED_STREAM';
}

class LateError extends Error {
  readonly code = 'ETIMEDOUT';
}

class ClosedError extends Error {
  readonly code = 'ECONNRESET';
}

interface Session {
  readonly http2: ClientHttp2Session;
  readonly socket: TLSSocket;
  streams: number;
}

export function createHttp2Connections(url: URL, tls: ConnectionOptions, pings: PingTimes): Connections {
  /** Those that take new requests. */
  const open = new Set<Session>();
  /** Also those that only finish their requests. */
  const all = new Set<Session>();
  let opening: Promise<Session> | undefined;
  let dialing: TLSSocket | undefined;
  let isRetired = false;

  async function connectSession(): Promise<Session> {
    const socket = dialTls(url, tls);
    dialing = socket;
    await untilSecure(socket);
    dialing = undefined;
    if (isRetired || socket.alpnProtocol !== 'h2') {
      socket.destroy();
      throw isRetired ? new Error('the connections to the API server are closed') : new Http1OnlyError();
    }
    const http2 = connect(url.origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
      maxSessionMemory: MAX_SESSION_MEGABYTES,
    });
    // Until its first request: the one that opened it may no longer need it.
    http2.unref();
    const session: Session = { http2, socket, streams: 0 };
    const stopPings = startPings(session, pings);
    open.add(session);
    all.add(session);
    // Requests that run get the error themselves.
    http2.on('error', () => {});
    http2.on('connect', () => http2.setLocalWindowSize(CONNECTION_WINDOW));
    http2.on('goaway', () => leave(session));
    http2.on('close', () => {
      open.delete(session);
      all.delete(session);
      stopPings();
    });
    return session;
  }

  /** What the server has accepted continues to its end; new requests go elsewhere. */
  function leave(session: Session): void {
    open.delete(session);
    if (!session.http2.destroyed) session.http2.close();
  }

  /** One connection, unless so many requests run that the server would not accept more on it. */
  function findSession(): Promise<Session> {
    for (const session of open) {
      if (session.http2.closed || session.http2.destroyed) continue;
      const limit = Math.min(session.http2.remoteSettings.maxConcurrentStreams ?? MAX_STREAMS, MAX_STREAMS);
      if (session.streams < limit) return Promise.resolve(session);
    }
    opening ??= connectSession().finally(() => {
      opening = undefined;
    });
    return opening;
  }

  async function send(exchange: Exchange, isRepeated = false): Promise<Answer> {
    if (isRetired) throw new Error('the connections to the API server are closed');
    const session = await orAborted(findSession(), exchange.signal);
    try {
      return await sendOn(session, exchange);
    } catch (error) {
      if (!(error instanceof UnprocessedError)) throw error;
      exchange.onUnread();
      if (isRepeated) throw error;
      leave(session);
      return send(exchange, true);
    }
  }

  function retire(): void {
    isRetired = true;
    open.clear();
    for (const { http2 } of all) http2.close();
  }

  return {
    send: (exchange) => send(exchange),
    retire,
    async destroy() {
      isRetired = true;
      open.clear();
      dialing?.destroy();
      for (const session of all) destroy(session, new ClosedError('the connections to the API server are closed'));
    },
  };
}

function dialTls({ hostname, port }: URL, tls: ConnectionOptions): TLSSocket {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const name = isIP(host) === 0 ? { servername: host } : {};
  const at = { host, port: port === '' ? 443 : Number(port) };
  const socket = connectTls({ ...at, ...name, ALPNProtocols: ['h2', 'http/1.1'], ...tls });
  return socket.setNoDelay(true).setKeepAlive(true, 60_000);
}

function untilSecure(socket: TLSSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = new LateError(`no connection within ${CONNECT_TIMEOUT_MS / 1000} s`);
    const limit = setTimeout(() => socket.destroy(late), CONNECT_TIMEOUT_MS);
    socket.once('secureConnect', resolve);
    // Stays: once connected, the session handles errors, and this one does nothing.
    socket.on('error', reject);
    socket.once('close', () => reject(new ClosedError('the connection closed before it was secure')));
    socket.once('secureConnect', () => clearTimeout(limit)).once('close', () => clearTimeout(limit));
  });
}

/** Node lets the socket of a connection that is being closed wait for the other side, which may be gone. */
function destroy({ http2, socket }: Session, error: Error): void {
  http2.destroy(error);
  socket.destroy();
}

/** Ends a connection that no longer answers: everything on it fails immediately, and is opened again elsewhere. */
function startPings(session: Session, { everyMs, timeoutMs }: PingTimes): () => void {
  const { http2 } = session;
  let late: NodeJS.Timeout | undefined;
  const onAnswer = (error: Error | null): void => {
    if (error !== null) return;
    clearTimeout(late);
    late = undefined;
  };
  const timer = setInterval(() => {
    if (late !== undefined || http2.destroyed) return;
    const error = new LateError(`no answer to a ping within ${timeoutMs / 1000} s`);
    late = setTimeout(() => destroy(session, error), timeoutMs).unref();
    // After a GOAWAY, watches run on for minutes, but Node sends no pings. Settings have to be answered too.
    if (http2.closed) http2.settings({}, onAnswer);
    else http2.ping(onAnswer);
  }, everyMs).unref();
  return () => {
    clearInterval(timer);
    clearTimeout(late);
  };
}

function sendOn(session: Session, exchange: Exchange): Promise<Answer> {
  const { headersTimeoutMs, silenceMs, signal } = exchange;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    exchange.beforeSend();
    const stream = startStream(session, exchange);
    const cancel = (): void => {
      const reason: unknown = signal?.reason;
      stream.close(constants.NGHTTP2_CANCEL);
      stream.destroy(reason instanceof Error ? reason : undefined);
      reject(reason);
    };
    signal?.addEventListener('abort', cancel, { once: true });
    const limit = setTimeout(() => stream.destroy(new LateError('no response in time')), headersTimeoutMs);
    // Rejecting does nothing once the response has started: then the reader of the body gets the error.
    const fail = (error: Error): void => reject(isUnread(stream, error) ? new UnprocessedError(error.message) : error);
    stream.once('response', (received) => {
      clearTimeout(limit);
      if (silenceMs > 0) stream.setTimeout(silenceMs, () => stream.destroy(new LateError('the response fell silent')));
      const { ':status': status = 0, ...headers } = received;
      resolve({ status, headers, body: toBody(stream) });
    });
    stream.on('error', fail);
    stream.once('close', () => {
      clearTimeout(limit);
      signal?.removeEventListener('abort', cancel);
      fail(new ClosedError('the connection closed before the response'));
    });
  });
}

/** Node gives the code of a GOAWAY to all streams of the connection. It is not about a single request. */
const isUnread = ({ rstCode }: ClientHttp2Stream, error: Error): boolean =>
  rstCode === constants.NGHTTP2_REFUSED_STREAM && systemCode(error) !== 'ERR_HTTP2_SESSION_ERROR';

/** Node ends a stream in the usual way when its connection breaks. Only its code shows that the rest is missing. */
function toBody(stream: ClientHttp2Stream): Body {
  return {
    async *[Symbol.asyncIterator]() {
      yield* stream;
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) throw new ClosedError('the connection closed');
    },
    destroy() {
      stream.close(constants.NGHTTP2_CANCEL);
      stream.destroy();
    },
  };
}

function startStream(session: Session, { method, path, headers, body }: Exchange): ClientHttp2Stream {
  let stream: ClientHttp2Stream;
  try {
    stream = session.http2.request({ ':method': method, ':path': path, ...headers }, { endStream: body === null });
  } catch (cause) {
    // A GOAWAY has arrived since the connection was chosen.
    throw new UnprocessedError('the connection accepts no more requests', { cause });
  }
  session.streams += 1;
  // An idle connection does not keep the process alive.
  session.http2.ref();
  stream.once('close', () => {
    session.streams -= 1;
    if (session.streams === 0) session.http2.unref();
  });
  if (body !== null) stream.end(body);
  return stream;
}

/** The connection may serve others: it is opened even if this request no longer needs it. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal | null): Promise<T> {
  if (signal === null) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
