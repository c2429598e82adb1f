import { type RequestHandler, type FakeServer, startFakeServer } from '@slipway/testing/fake-http-server';
import type { ClusterAccess } from '../client/access.ts';
import { type Credentials, fixedCredentials } from '../client/credentials.ts';

/** An HTTP server that misbehaves in ways a real API server cannot be made to. */
export interface StandInServer extends AsyncDisposable, Pick<FakeServer, 'requests' | 'openSockets'> {
  access(credentials?: Credentials): ClusterAccess;
}

export async function startStandInServer(answer: RequestHandler): Promise<StandInServer> {
  const server = await startFakeServer(answer);
  return {
    requests: server.requests,
    get openSockets() {
      return server.openSockets;
    },
    access: (credentials = fixedCredentials({}, 'anonymous')) => ({
      source: 'a test',
      server: server.url,
      ca: async () => undefined,
      tlsServerName: undefined,
      proxy: undefined,
      namespace: 'default',
      credentials,
    }),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

export const statusBody = (code: number, reason: string, message = reason, details: object = {}): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  details,
  code,
});
