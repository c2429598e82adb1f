// An HTTP server on the loopback interface that behaves as a test specifies, also in ways that a real server cannot be
// made to. It counts requests that arrived, not those that a client believes it sent.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Identity } from './certificates.ts';

export interface RecordedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** `GET /path?query` */
  readonly call: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** When it had arrived completely, by performance.now(). */
  readonly at: number;
  /** Requests in progress at that moment, including this one. */
  readonly concurrent: number;
}

export type RequestHandler = (request: RecordedRequest, response: ServerResponse) => unknown;

/** Answers in place of the server, or not at all, and returns true; false if it does not apply. */
export type Fault = (request: RecordedRequest, response: ServerResponse) => boolean | Promise<boolean>;

export interface FakeServer extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** 127.0.0.1:PORT */
  readonly host: string;
  readonly requests: readonly RecordedRequest[];
  readonly openSockets: number;
  /** Sets the response for a path. */
  serve(path: string, answer: RequestHandler | string | Uint8Array): void;
  /** Faults are tried before each response, in the order they were added. Returns a function that removes it. */
  fail(fault: Fault): () => void;
  /** Closes connections and refuses new ones. */
  stop(): Promise<void>;
  /** Listens on the same port again. */
  start(): Promise<void>;
}

const notFound: RequestHandler = (_, response) => response.writeHead(404).end();

/** `answer` handles every path without `serve`. On any free port, unless one is given. */
export async function startFakeServer(
  answer: RequestHandler = notFound,
  { tls, port: wanted = 0 }: { tls?: Identity; port?: number } = {},
): Promise<FakeServer> {
  const requests: RecordedRequest[] = [];
  const answers = new Map<string, RequestHandler>();
  const faults = new Set<Fault>();
  const sockets = new Set<Socket>();
  let underWay = 0;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    underWay += 1;
    response.on('close', () => {
      underWay -= 1;
    });
    // Some tests are about clients that hang up midway.
    response.on('error', () => {});
    const body = await text(request).catch(() => null);
    if (body === null) return;
    const seen = describeRequest(request, body, underWay);
    requests.push(seen);
    for (const fault of faults) if (await fault(seen, response)) return;
    await (answers.get(seen.path) ?? answer)(seen, response);
  }

  const listener = (request: IncomingMessage, response: ServerResponse): void => void handle(request, response);
  const server =
    tls === undefined ? createServer(listener) : createTlsServer({ cert: tls.cert, key: tls.key }, listener);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  });
  // A client that does not trust the certificate hangs up.
  server.on('tlsClientError', () => {});
  const listen = (port: number): Promise<void> => new Promise((done) => server.listen(port, '127.0.0.1', done));
  await listen(wanted);
  const { port } = server.address() as AddressInfo;

  async function stop(): Promise<void> {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    host: `127.0.0.1:${port}`,
    requests,
    get openSockets() {
      return sockets.size;
    },
    serve(path, what) {
      answers.set(path, typeof what === 'function' ? what : (_, response) => response.end(what));
    },
    fail(fault) {
      faults.add(fault);
      return () => faults.delete(fault);
    },
    stop,
    start: () => listen(port),
    [Symbol.asyncDispose]: stop,
  };
}

function describeRequest(request: IncomingMessage, body: string, concurrent: number): RecordedRequest {
  const { method = '', url = '/', headers } = request;
  const { pathname, searchParams } = new URL(url, 'http://fake');
  return {
    method,
    path: pathname,
    query: searchParams,
    call: `${method} ${url}`,
    headers,
    body,
    at: performance.now(),
    concurrent,
  };
}

/** Applies the fault to the first requests whose `call` matches, up to this number. */
export function firstTimes(times: number, pattern: RegExp, misbehave: Misbehaviour): Fault {
  let left = times;
  return async (request, response) => {
    if (left === 0 || !pattern.test(request.call)) return false;
    left -= 1;
    await misbehave(response, request);
    return true;
  };
}

export const always = (pattern: RegExp, misbehave: Misbehaviour): Fault =>
  firstTimes(Number.POSITIVE_INFINITY, pattern, misbehave);

/** A custom response, or none. */
export type Misbehaviour = (response: ServerResponse, request: RecordedRequest) => unknown;

export function respondJson(response: ServerResponse, status: number, body: unknown, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Sends headers and half of the bytes, then closes the connection. */
export const cutHalfway =
  (bytes: Uint8Array) =>
  (response: ServerResponse): void =>
    sendHalf(response, bytes, () => response.socket?.destroy());

/** Sends headers and half of the bytes; the caller decides what follows. */
export function sendHalf(response: ServerResponse, bytes: Uint8Array, next: () => void = () => {}): void {
  response.writeHead(200, { 'content-length': bytes.length });
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), next);
}
