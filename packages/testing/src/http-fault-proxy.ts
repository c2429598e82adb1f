// Stands in front of a real HTTP server and passes everything on until it is told to fail or to lie. It speaks plain http itself,
// also where the server speaks TLS.
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

/** A request, as the client made it. */
export interface ProxiedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** The JSON that it sent; undefined: none. */
  readonly body: unknown;
}

/** What the server has answered. */
export interface UpstreamResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What happens to a request instead of being passed on and answered. */
export type HttpFault =
  /** Answered by the proxy alone: the server never hears of it. */
  | { kind: 'answer'; status: number; body?: unknown }
  /** Passed on; of the answer, if it is JSON, this is told instead. */
  | { kind: 'change'; change: (body: unknown) => unknown }
  /** Passed on; whoever spoils the answer writes one of its own, or none, and returns true. */
  | { kind: 'spoil'; spoil: (good: UpstreamResponse, response: ServerResponse) => boolean }
  /** Never answered, and not passed on. */
  | { kind: 'hang' }
  /** The connection ends, before the server hears of it or after it has done it. */
  | { kind: 'cut'; after: boolean }
  /** Passed on once this is over: time for somebody to be killed, or to change something. */
  | { kind: 'wait'; until: Promise<unknown> };

/** Which fault a request meets; undefined: none, by this rule. */
export type FaultRule = (request: ProxiedRequest) => HttpFault | undefined;

export interface HttpFaultProxy extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** 127.0.0.1:PORT */
  readonly host: string;
  /** Everything that was asked, in order, whatever became of it. */
  readonly requests: readonly ProxiedRequest[];
  /** The newest rule is asked first. Call what is returned to end it. */
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

  /** Only until one rule speaks: some count how often they did. */
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
