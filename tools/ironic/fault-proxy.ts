import { once } from 'node:events';
import { createServer, request as plainRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request from the client. */
export interface ProxiedRequest {
  method: string;
  /** With the query. */
  path: string;
  /** The JSON body; undefined: none. */
  body: unknown;
}

/** What happens to a request instead of normal forwarding. */
export type Fault =
  /** The proxy responds; the server never sees the request. */
  | { kind: 'answer'; status: number; body?: unknown }
  /** Forwarded; a JSON response is replaced by this. */
  | { kind: 'change'; change: (body: unknown) => unknown }
  /** Neither answered nor forwarded. */
  | { kind: 'hang' }
  /** The connection is closed, before the server sees the request or after it has processed it. */
  | { kind: 'cut'; after: boolean }
  /** Forwarded once this resolves: time to kill or change something. */
  | { kind: 'wait'; until: Promise<unknown> };

/** The fault for a request; undefined: this rule does not apply. */
export type FaultRule = (asked: ProxiedRequest) => Fault | undefined;

export interface FaultProxy {
  url: string;
  port: number;
  /** All requests in order, whatever happened to them. */
  readonly seen: readonly ProxiedRequest[];
  /** The newest rule is tried first. Returns a function that removes it. */
  add(rule: FaultRule): () => void;
  stop(): Promise<void>;
}

/**
 * A proxy to an HTTP server, an Ironic or a BMC, that forwards everything until a test makes it fail or lie. It speaks
 * plain HTTP, even if the server speaks TLS.
 */
export async function startFaultProxy({ url: target, ca = '' }: { url: string; ca?: string }): Promise<FaultProxy> {
  const rules: FaultRule[] = [];
  const seen: ProxiedRequest[] = [];
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.socket?.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await buffer(request);
    const asked = { method: request.method ?? '', path: request.url ?? '/', body: parse(bytes) };
    seen.push(asked);
    await meet(faultFor(asked), response, () => passOn(request, bytes));
  }

  /** Stops at the first rule that applies: some count how often they did. */
  function faultFor(asked: ProxiedRequest): Fault {
    for (const rule of rules) {
      const fault = rule(asked);
      if (fault !== undefined) return fault;
    }
    return { kind: 'wait', until: Promise.resolve() };
  }

  async function passOn(request: IncomingMessage, bytes: Buffer): Promise<Passed> {
    const { method, headers } = request;
    const url = new URL(request.url ?? '/', target);
    const options = { method, headers, agent: false as const };
    const passed = ca === '' ? plainRequest(url, options) : tlsRequest(url, { ...options, ca });
    const [found] = (await once(passed.end(bytes), 'response')) as [IncomingMessage];
    return { found, bytes: await buffer(found) };
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    seen,
    add(rule) {
      rules.unshift(rule);
      return () => {
        if (rules.includes(rule)) rules.splice(rules.indexOf(rule), 1);
      };
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function meet(fault: Fault, response: ServerResponse, passOn: () => Promise<Passed>): Promise<void> {
  switch (fault.kind) {
    case 'hang':
      return;
    case 'answer':
      return respondJson(response, fault.status, fault.body);
    case 'cut':
      if (fault.after) await passOn();
      response.socket?.destroy();
      return;
    case 'change': {
      const { found, bytes } = await passOn();
      return forwardResponse(response, found, changed(bytes, fault.change));
    }
    case 'wait': {
      await fault.until;
      const { found, bytes } = await passOn();
      return forwardResponse(response, found, bytes);
    }
  }
}

interface Passed {
  found: IncomingMessage;
  bytes: Buffer;
}

function respondJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

function forwardResponse(
  response: ServerResponse,
  { statusCode = 502, headers }: IncomingMessage,
  bytes: Buffer,
): void {
  const { 'content-length': _, 'transfer-encoding': __, connection: ___, ...kept } = headers;
  response.writeHead(statusCode, { ...kept, ...(bytes.length > 0 ? { 'content-length': bytes.length } : {}) });
  response.end(bytes);
}

function changed(bytes: Buffer, change: (body: unknown) => unknown): Buffer {
  const body = parse(bytes);
  return body === undefined ? bytes : Buffer.from(JSON.stringify(change(body)));
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
