import { createClient, createTransport } from '@slipway/kube';
import { type FakeServer, startFakeServer } from '@slipway/testing/fake-http-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readNodeDetails } from './why.ts';

const PATH = '/api/v1/nodes/worker-0/proxy/logs/';
const entry = (program: string, text: string): string => `Nov 18 15:00:00.000000 worker-0 ${program}[7]: ${text}`;

let server: FakeServer;
beforeAll(async () => {
  server = await startFakeServer();
});
afterAll(() => server.stop());

async function read(): Promise<readonly string[]> {
  const transport = createTransport({
    source: 'the test',
    server: server.url,
    ca: async () => undefined,
    tlsServerName: undefined,
    proxy: undefined,
    namespace: 'default',
    credentials: { source: 'no user', current: async () => ({}), refresh: async () => {} },
  });
  try {
    return await readNodeDetails(createClient(transport), 'worker-0');
  } finally {
    await transport.close();
  }
}

describe('the details of a node', () => {
  it('are the entries of the journal under their identifier, without secrets', async () => {
    const lines = [
      entry('slipway', '{"level":"warn"}'),
      entry('machine-config-details', '-TOKEN=abc123'),
      entry('machine-config-details', '+pool a.example.com'),
    ];
    server.serve(PATH, `${lines.join('\n')}\n`);
    expect(await read()).toEqual([entry('machine-config-details', '-TOKEN=(hidden)'), lines[2]]);
    expect(server.requests.at(-1)?.query.get('query')).toBe('machine-config-daemon');
  });

  it.each([
    ['the log query is off, and the kubelet lists its files', 200, '<pre>\n<a href="journal/">journal/</a>\n</pre>\n'],
    ['the user may not use it', 403, '{"kind":"Status","status":"Failure","message":"forbidden","code":403}'],
    ['the kubelet does not respond', 503, '{"kind":"Status","status":"Failure","message":"no route","code":503}'],
  ])('are empty if %s', async (_, status, body) => {
    server.serve(PATH, (__, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
    expect(await read()).toEqual([]);
  });
});
