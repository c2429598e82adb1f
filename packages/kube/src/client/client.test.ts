import { type RequestHandler, respondJson } from '@slipway/testing/fake-http-server';
import { describe, expect, it } from 'vitest';
import { startStandInServer, statusBody } from '../testing/stand-in-server.ts';
import { createClient, type WriteAttempt } from './client.ts';
import { KubeError } from './errors.ts';
import type { Resource } from './resource.ts';
import { createTransport } from './transport.ts';

const pods: Resource = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const name = { namespace: 'n', name: 'a' };
const good: RequestHandler = (_, response) =>
  respondJson(response, 200, { metadata: { ...name, uid: 'u', resourceVersion: '1' } });

async function withClient(
  answer: RequestHandler,
  test: (client: ReturnType<typeof createClient>, seen: readonly { body: string; path: string }[]) => Promise<void>,
) {
  await using server = await startStandInServer(answer);
  const transport = createTransport(server.access());
  await test(createClient(transport), server.requests);
  await transport.close();
}

describe('client', () => {
  it.each<[string, 'merge' | 'json', unknown]>([
    ['inside a merge patch', 'merge', { spec: 1, metadata: { labels: { a: 'b' }, uid: 'u', resourceVersion: '7' } }],
    [
      'before the steps of a JSON patch',
      'json',
      [
        { op: 'add', path: '/metadata/uid', value: 'u' },
        { op: 'add', path: '/metadata/resourceVersion', value: '7' },
        { op: 'remove', path: '/spec' },
      ],
    ],
  ])('the precondition of a patch is sent %s', async (_, type, expected) => {
    await withClient(good, async (client, seen) => {
      const patch =
        type === 'json'
          ? { type, body: [{ op: 'remove', path: '/spec' }] }
          : { type, body: { spec: 1, metadata: { labels: { a: 'b' } } } };
      await client.patch(pods, name, patch, { uid: 'u', resourceVersion: '7' });
      expect(JSON.parse(seen[0]?.body ?? '')).toEqual(expected);
    });
  });

  it('every guard sees a write before it is sent, and any of them can refuse it', async () => {
    await withClient(good, async (client, seen) => {
      const asked: WriteAttempt[] = [];
      const guarded = client
        .guarded((attempt) => void asked.push(attempt))
        .guarded(({ verb }) => {
          if (verb === 'delete') throw new KubeError('SLW_KUBE_NOT_OWNED', 'not yours');
        });
      await guarded.evict(name, { uid: 'u' });
      await expect(guarded.delete(pods, name, {})).rejects.toMatchObject({ code: 'SLW_KUBE_NOT_OWNED' });
      await guarded.get(pods, name);
      expect(seen.map(({ path }) => path)).toEqual([
        '/api/v1/namespaces/n/pods/a/eviction',
        '/api/v1/namespaces/n/pods/a',
      ]);
      // Once when it is requested, and once when it is sent.
      expect(asked.map(({ verb }) => verb)).toEqual(['evict', 'evict', 'delete']);
      expect(asked[0]).toMatchObject({ resource: pods, name, precondition: { uid: 'u' } });
    });
  });

  it('an eviction refused for overload is not mistaken for one blocked by a budget, and not retried', async () => {
    await withClient(
      (_, response) => respondJson(response, 429, statusBody(429, 'TooManyRequests')),
      async (client, seen) => {
        await expect(client.evict(name, {})).rejects.toMatchObject({ code: 'SLW_KUBE_THROTTLED' });
        expect(seen).toHaveLength(1);
      },
    );
  });

  it.each(['null', '"hello"', '[]', '7'])('a response that is %s is not an object', async (text) => {
    await withClient(
      (_, response) => void response.end(text),
      async (client) => {
        await expect(client.get(pods, name)).rejects.toMatchObject({ code: 'SLW_KUBE_BAD_ANSWER' });
      },
    );
  });
});
