import type { ServerResponse } from 'node:http';
import type { Identity } from '@slipway/testing/certificates';
import { type RequestHandler, type FakeServer, respondJson, startFakeServer } from '@slipway/testing/fake-http-server';

/**
 * Not an Ironic: a server that responds as Ironic does for a healthy node, until a test makes it fail in a way that a
 * real one cannot be made to. The tests against a real Ironic are in e2e/data-images.cluster.test.ts.
 */
export interface MisbehavingIronic extends Pick<FakeServer, 'url' | 'host' | 'requests' | 'fail'>, AsyncDisposable {
  /** The requests, except those for versions. */
  readonly calls: string[];
}

export const UUID = '3c5ed1cf-39f0-4026-961a-4f19baadfa64';

/** In Ironic's format. */
export const nodeAnswer = {
  uuid: UUID,
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

const isVersions = (call: string): boolean => call === 'GET /v1';

const respondHealthy: RequestHandler = ({ call, method, path }, response) => {
  if (isVersions(call)) response.writeHead(200, versions).end('{}');
  else if (method !== 'GET') response.writeHead(202).end();
  else if (path.endsWith('/vmedia')) response.end('[{"media_types":["CD"],"inserted":false,"image":""}]');
  else respondJson(response, 200, nodeAnswer);
};

export async function startMisbehavingIronic(tls?: Identity): Promise<MisbehavingIronic> {
  const server = await startFakeServer(respondHealthy, tls === undefined ? {} : { tls });
  return {
    ...server,
    get calls() {
      return server.requests.map(({ call }) => call).filter((call) => !isVersions(call));
    },
  };
}

/** An error in Ironic's format. */
export const respondFault =
  (status: number, faultstring: string) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ error_message: JSON.stringify({ faultcode: 'Client', faultstring, debuginfo: null }) }),
    );
  };
