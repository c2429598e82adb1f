// A proxy to a real HTTP server that forwards everything until a test makes it fail or lie. It speaks plain HTTP, even
// if the server speaks TLS.
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as plainRequest,
  type ServerResponse,
} from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request from the client. */
export interface ProxiedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** The JSON body; undefined: none. */
  readonly body: unknown;
}

/** The server's response. */
export interface UpstreamResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What happens to a request instead of normal forwarding. */
export type HttpFault =
  /** The proxy responds; the server never sees the request. */
  | { kind: 'answer'; status: number; body?: unknown }
  /** Forwarded; a JSON response is replaced by this. */
  | { kind: 'change'; change: (body: unknown) => unknown }
  /** Forwarded; the function may write another response, or none, and then returns true. */
  | { kind: 'spoil'; spoil: (good: UpstreamResponse, response: ServerResponse) => boolean }
  /** Neither answered nor forwarded. */
  | { kind: 'hang' }
  /** The connection is closed, before the server sees the request or after it has processed it. */
  | { kind: 'cut'; after: boolean }
  /** Forwarded once this resolves: time to kill or change something. */
  | { kind: 'wait'; until: Promise<unknown> };

/** The fault for a request; undefined: this rule does not apply. */
export type FaultRule = (request: ProxiedRequest) => HttpFault | undefined;

export interface HttpFaultProxy extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** 127.0.0.1:PORT */
  readonly host: string;
  /** All requests in order, whatever happened to them. */
  readonly requests: readonly ProxiedRequest[];
  /** The newest rule is tried first. Returns a function that removes it. */
  add(rule: FaultRule): () => void;
  stop(): Promise<void>;
}

export async function startHttpFaultProxy(target: { url: string; ca?: string }): Promise<HttpFaultProxy> {
  const rules: FaultRule[] = [];
  const requests: ProxiedRequest[] = [];
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.socket?.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await buffer(request);
    const proxied = { method: request.method ?? '', path: request.url ?? '/', body: parseJson(bytes) };
    requests.push(proxied);
    await applyFault(faultFor(proxied), response, () => passOn(target, request, bytes));
  }

  /** Stops at the first rule that applies: some count how often they did. */
  function faultFor(request: ProxiedRequest): HttpFault | undefined {
    for (const rule of rules) {
      const fault = rule(request);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  async function stop(): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    host: `127.0.0.1:${port}`,
    requests,
    add(rule) {
      rules.unshift(rule);
      return () => {
        if (rules.includes(rule)) rules.splice(rules.indexOf(rule), 1);
      };
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function applyFault(
  fault: HttpFault | undefined,
  response: ServerResponse,
  passOn: () => Promise<UpstreamResponse>,
): Promise<void> {
  switch (fault?.kind) {
    case undefined:
      return sendResponse(response, await passOn());
    case 'hang':
      return;
    case 'answer':
      response.writeHead(fault.status, { 'content-type': 'application/json' });
      response.end(fault.body === undefined ? undefined : JSON.stringify(fault.body));
      return;
    case 'cut':
      if (fault.after) await passOn();
      response.socket?.destroy();
      return;
    case 'change': {
      const good = await passOn();
      return sendResponse(response, { ...good, body: changeJson(good.body, fault.change) });
    }
    case 'spoil': {
      const good = await passOn();
      if (!fault.spoil(good, response)) sendResponse(response, good);
      return;
    }
    case 'wait':
      await fault.until;
      return sendResponse(response, await passOn());
  }
}

async function passOn(
  { url: target, ca }: { url: string; ca?: string },
  request: IncomingMessage,
  bytes: Buffer,
): Promise<UpstreamResponse> {
  const { method, headers } = request;
  const url = new URL(request.url ?? '/', target);
  const options = { method, headers, agent: false as const };
  const passed = url.protocol === 'http:' ? plainRequest(url, options) : tlsRequest(url, { ...options, ca });
  const [answer] = (await once(passed.end(bytes), 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 502, headers: answer.headers, body: await buffer(answer) };
}

function sendResponse(response: ServerResponse, { status, headers, body }: UpstreamResponse): void {
  const { 'content-length': _, 'transfer-encoding': __, connection: ___, ...kept } = headers;
  response.writeHead(status, { ...kept, ...(body.length > 0 ? { 'content-length': body.length } : {}) }).end(body);
}

function changeJson(bytes: Buffer, change: (body: unknown) => unknown): Buffer {
  const body = parseJson(bytes);
  return body === undefined ? bytes : Buffer.from(JSON.stringify(change(body)));
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
