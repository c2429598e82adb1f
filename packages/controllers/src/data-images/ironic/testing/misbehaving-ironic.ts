import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/** One request as the server saw it. */
export interface Seen {
  /** `PUT /v1/nodes/…/states/power`, with the query. */
  readonly call: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

/** What to do instead of answering; returns true when it did. */
export type Fault = (seen: Seen, response: ServerResponse) => boolean;

/**
 * Not an Ironic: a server that answers what one would say of a node that is fine, until a test tells it to fail in a way that
 * a healthy one cannot be brought to. What the client does with a real Ironic is in e2e/data-images.cluster.test.ts.
 */
export interface MisbehavingIronic extends AsyncDisposable {
  readonly url: string;
  readonly host: string;
  readonly seen: Seen[];
  /** What was asked for, the versions aside. */
  readonly calls: string[];
  /** Tried in turn before each answer. */
  fail(fault: Fault): void;
}

export const uuid = '3c5ed1cf-39f0-4026-961a-4f19baadfa64';

/** As Ironic shows it. */
export const nodeAnswer = {
  uuid,
  provision_state: 'active',
  target_provision_state: null,
  power_state: 'power off',
  target_power_state: null,
  reservation: null,
  last_error: null,
  maintenance: false,
  extra: { slipway: { uid: 'host-uid', digest: 'd1' } },
  links: [],
};

const versions = {
  'x-openstack-ironic-api-minimum-version': '1.1',
  'x-openstack-ironic-api-maximum-version': '1.115',
};

export async function startMisbehavingIronic(tls?: { cert: string; key: string }): Promise<MisbehavingIronic> {
  const seen: Seen[] = [];
  const faults: Fault[] = [];
  const sockets = new Set<Socket>();
  const isVersions = (call: string) => call === 'GET /v1';

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sent = await text(request);
    const body: unknown = sent === '' ? undefined : JSON.parse(sent);
    const one: Seen = { call: `${request.method} ${request.url}`, headers: request.headers, body };
    seen.push(one);
    if (faults.some((fault) => fault(one, response))) return;
    if (isVersions(one.call)) response.writeHead(200, versions).end('{}');
    else if (request.method !== 'GET') response.writeHead(202).end();
    else if (request.url?.endsWith('/vmedia') === true)
      response.end('[{"media_types":["CD"],"inserted":false,"image":""}]');
    else response.end(JSON.stringify(nodeAnswer));
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    handle(request, response).catch(() => response.destroy());
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${host}`,
    host,
    seen,
    get calls() {
      return seen.map(({ call }) => call).filter((call) => !isVersions(call));
    },
    fail(fault) {
      faults.push(fault);
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Does what the fault does for the first requests of that kind, and then no more. */
export function firstTimes(times: number, pattern: RegExp, fault: (response: ServerResponse) => void): Fault {
  let left = times;
  return ({ call }, response) => {
    if (left === 0 || !pattern.test(call)) return false;
    left -= 1;
    fault(response);
    return true;
  };
}

export const always = (pattern: RegExp, fault: (response: ServerResponse) => void): Fault =>
  firstTimes(Number.POSITIVE_INFINITY, pattern, fault);

/** An error in the form that Ironic gives it. */
export const says =
  (status: number, faultstring: string) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ error_message: JSON.stringify({ faultcode: 'Client', faultstring, debuginfo: null }) }),
    );
  };
