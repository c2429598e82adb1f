import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ensureAuthority, ensureIdentity } from '@slipway/tools/controlplane';

export interface ConfigServer {
  url: string;
  /** PEM, for the stub. */
  caBundle: string;
  /** What it was asked, in order. */
  requests: IncomingMessage[];
  close(): Promise<void>;
}

/** The simplest server that can boot a machine: TLS by a CA of its own, made in this directory. */
export async function startConfigServer(
  directory: string,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<ConfigServer> {
  const authority = await ensureAuthority(join(directory, 'ca.pem'), 'First boot test CA');
  const own = await ensureIdentity(authority, join(directory, 'server.pem'), {
    commonName: 'config server',
    hosts: ['127.0.0.1'],
  });
  const requests: IncomingMessage[] = [];
  const server = createServer({ cert: own.certificate, key: own.key }, (request, response) => {
    requests.push(request);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caBundle: authority.certificate,
    requests,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
