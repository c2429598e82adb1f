import { type RequestHandler, respondJson } from '@slipway/testing/fake-http-server';
import { until } from '@slipway/testing/wait';
import { describe, expect, it } from 'vitest';
import { startStandInServer, statusBody } from '../testing/stand-in-server.ts';
import { createInformer } from '../watch/informer.ts';
import { createClient } from './client.ts';
import type { Resource } from './resource.ts';
import { createTransport, type Transport } from './transport.ts';

const things: Resource = {
  group: 'example.com',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  namespaced: false,
  newerVersions: ['v3', 'v2'],
};
const name = { name: 'a' };

/** Serves the kind in these versions, which the test may change, and other kinds of the group in all of them. */
const serving =
  (served: ReadonlySet<string>): RequestHandler =>
  ({ path, query }, response) => {
    const [, version = '', plural, object] = /^\/apis\/example\.com\/(v\d)(?:\/(\w+))?(?:\/(\w+))?$/.exec(path) ?? [];
    const kinds = served.has(version) ? ['others', 'things'] : ['others'];
    if (plural === undefined) return respondJson(response, 200, { resources: kinds.map((each) => ({ name: each })) });
    if (!kinds.includes(plural)) return respondJson(response, 404, statusBody(404, 'NotFound'));
    const metadata = { name: 'a', uid: 'u', resourceVersion: '1' };
    if (object !== undefined) return respondJson(response, 200, { apiVersion: `example.com/${version}`, metadata });
    if (query.get('watch') === 'true') return response.writeHead(200).flushHeaders();
    respondJson(response, 200, { metadata: { resourceVersion: '1' }, items: [{ metadata }] });
  };

async function withServer(
  served: Set<string>,
  test: (transport: Transport, paths: () => string[]) => Promise<void>,
): Promise<void> {
  await using server = await startStandInServer(serving(served));
  const transport = createTransport(server.access());
  await test(transport, () => server.requests.map(({ path }) => path.replace('/apis/example.com/', '')));
  await transport.close();
}

describe('a kind with several versions', () => {
  it.each([
    { served: ['v1', 'v2', 'v3'], used: 'v3', asked: ['v3'] },
    { served: ['v1', 'v2'], used: 'v2', asked: ['v3', 'v2'] },
    { served: ['v1'], used: 'v1', asked: ['v3', 'v2', 'v1'] },
  ])('is asked for in $used where $served is served, and discovered once', async ({ served, used, asked }) => {
    await withServer(new Set(served), async (transport, paths) => {
      const client = createClient(transport);
      await client.get(things, name);
      await client.guarded(() => {}).patch(things, name, { type: 'merge', body: {} }, {});
      await Array.fromAsync(client.list(things));
      expect(paths()).toEqual([...asked, `${used}/things/a`, `${used}/things/a`, `${used}/things`]);
    });
  });

  it('of which none is served is not installed, until one is', async () => {
    const served = new Set<string>();
    await withServer(served, async (transport) => {
      const client = createClient(transport);
      await expect(client.get(things, name)).rejects.toMatchObject({ code: 'SLW_KUBE_KIND_NOT_INSTALLED' });
      served.add('v2');
      expect(await client.get(things, name)).toMatchObject({ apiVersion: 'example.com/v2' });
    });
  });

  it('is found again by the request that the server refuses, and a write is sent once', async () => {
    const served = new Set(['v1']);
    await withServer(served, async (transport, paths) => {
      const client = createClient(transport);
      await client.get(things, name);
      served.clear();
      served.add('v2');
      const before = paths().length;
      expect(await Array.fromAsync(client.list(things))).toMatchObject([{ apiVersion: 'example.com/v2' }]);
      await client.delete(things, name, {});
      expect(paths().slice(before)).toEqual(['v1/things', 'v3', 'v2', 'v2/things', 'v2/things/a']);
    });
  });

  it('is read again by an informer in the version that is still served', async () => {
    const served = new Set(['v1']);
    await withServer(served, async (transport, paths) => {
      const abort = new AbortController();
      const options = { resource: things, expect: 'many', longestBackoffMs: 10 } as const;
      const informer = createInformer(transport, options);
      served.clear();
      informer.start(abort.signal);
      await until(() => expect(paths()).toContain('v1/things'));
      served.add('v2');
      await informer.synced;
      expect([...informer.store.values()]).toMatchObject([{ apiVersion: 'example.com/v2' }]);
      abort.abort();
    });
  });
});

it('a kind with one version is never discovered', async () => {
  await withServer(new Set(['v1']), async (transport, paths) => {
    const { newerVersions: _, ...plain } = things;
    await createClient(transport).get(plain, name);
    expect(paths()).toEqual(['v1/things/a']);
  });
});
