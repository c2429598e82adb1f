import {
  createClient,
  createTransport,
  done,
  parseKey,
  type Client,
  type ControllerDef,
  type Resource,
} from '@slipway/kube';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeServer, respondJson, startFakeServer } from './fake-http-server.ts';
import { type RunningControllers, type RunOptions, runControllers } from './run-controllers.ts';
import { until } from './wait.ts';

const things: Resource = { group: '', version: 'v1', kind: 'Thing', plural: 'things', namespaced: true };
const NAMES = ['a', 'b', 'c'];

/** Patches each thing once, one after another. */
const controller: ControllerDef = {
  name: 'patch-things',
  reads: [{ resource: things, expect: 'many' }],
  owns: [{ resource: things }],
  workers: 1,
  async reconcile(key, { client }) {
    await client.patch(things, parseKey(key), { type: 'merge', body: {} }, {});
    return done();
  },
};

let server: FakeServer;
let client: Client;
let running: RunningControllers | undefined;

beforeEach(async () => {
  const object = (name: string) => ({ metadata: { name, namespace: 'here', uid: name, resourceVersion: '1' } });
  server = await startFakeServer(({ method, path, query }, response) => {
    if (method === 'PATCH') respondJson(response, 200, object(path.split('/').at(-1) ?? ''));
    else if (query.get('watch') === 'true') response.writeHead(200).flushHeaders();
    else
      respondJson(response, 200, { kind: 'ThingList', metadata: { resourceVersion: '1' }, items: NAMES.map(object) });
  });
  client = createClient(
    createTransport({
      source: 'a test',
      server: server.url,
      ca: async () => undefined,
      tlsServerName: undefined,
      proxy: undefined,
      namespace: 'default',
      credentials: { source: 'nobody', current: async () => ({}), refresh: async () => {} },
    }),
  );
});
afterEach(async () => {
  await running?.stop();
  await client.transport.close();
  await server.stop();
});

const run = (options?: RunOptions): RunningControllers => {
  running = runControllers(client, [controller], options);
  return running;
};
const patched = (): string[] =>
  server.requests.filter(({ method }) => method === 'PATCH').map(({ path }) => path.split('/').at(-1) ?? '');

describe('controllers that a test runs', () => {
  it('have their writes and their log recorded', async () => {
    const seen: string[] = [];
    const { writes, log } = run({ onWrite: (write) => seen.push(write) });
    await until(() => expect(writes).toHaveLength(3), 'process');
    expect(writes).toEqual(NAMES.map((name) => `patch Thing here/${name}`));
    expect(seen).toEqual(writes);
    expect(log()).toContain('controller started');
  });

  it.each<[string, RunOptions]>([
    ['by its number', { killAtWrite: 2 }],
    ['by its text', { killAtWrite: 'patch Thing here/b' }],
  ])('are killed at a write, %s: neither that one nor a later one is sent', async (_, options) => {
    const { writes, log } = run(options);
    await until(() => expect(log().match(/the process is dead/g)?.length).toBeGreaterThan(1), 'process');
    expect(writes).toEqual(['patch Thing here/a']);
    expect(patched()).toEqual(['a']);
  });

  it('write nothing that a guard refuses, and nothing once they are killed', async () => {
    const guarded = run({
      guard: ({ name }) => {
        if (name.name === 'a') throw new Error('not this one');
      },
    });
    await until(() => expect(guarded.writes).toHaveLength(2), 'process');
    expect(patched()).not.toContain('a');
    guarded.kill();
    await until(() => expect(guarded.log()).toContain('the process is dead'), 'process');
  });
});
