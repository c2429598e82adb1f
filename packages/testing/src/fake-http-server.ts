// An HTTP server on the loopback interface that does what a test tells it, good or bad: for what a real server cannot be
// brought to do. Requests are counted by what arrived, not by what a client believes that it sent.
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
  /** When it had arrived in full, by performance.now(). */
  readonly at: number;
  /** How many requests were under way then, this one included. */
  readonly concurrent: number;
}

export type RequestHandler = (request: RecordedRequest, response: ServerResponse) => unknown;

/** Answers instead of the server, or not at all, and returns true; false where it does not apply. */
export type Fault = (request: RecordedRequest, response: ServerResponse) => boolean | Promise<boolean>;

export interface FakeServer extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** 127.0.0.1:PORT */
  readonly host: string;
  readonly requests: readonly RecordedRequest[];
  readonly openSockets: number;
  /** What is answered at a path from now on. */
  serve(path: string, answer: RequestHandler | string | Uint8Array): void;
  /** Tried before each answer, in the order in which they were added. Call what is returned to end it. */
  fail(fault: Fault): () => void;
  /** Connections end, and from now on they are refused. */
  stop(): Promise<void>;
  /** On the same port again. */
  start(): Promise<void>;
}

const notFound: RequestHandler = (_, response) => response.writeHead(404).end();

/** `answer` is for every path that `serve` does not name. */
export async function startFakeServer(
  answer: RequestHandler = notFound,
  { tls }: { tls?: Identity } = {},
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
    // A client that hangs up in the middle is what some tests are about.
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
  // A client that does not trust the certificate says so by hanging up.
  server.on('tlsClientError', () => {});
  const listen = (port: number): Promise<void> => new Promise((done) => server.listen(port, '127.0.0.1', done));
  await listen(0);
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

/** The first so many requests whose `call` matches meet the fault, and then no more. */
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

/** An answer of its own, or none. */
export type Misbehaviour = (response: ServerResponse, request: RecordedRequest) => unknown;

export function respondJson(response: ServerResponse, status: number, body: unknown, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Headers and half of the bytes, then the end of the connection. */
export const cutHalfway =
  (bytes: Uint8Array) =>
  (response: ServerResponse): void =>
    sendHalf(response, bytes, () => response.socket?.destroy());

/** Headers and half of the bytes; what comes next is the caller's. */
export function sendHalf(response: ServerResponse, bytes: Uint8Array, next: () => void = () => {}): void {
  response.writeHead(200, { 'content-length': bytes.length });
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), next);
}
