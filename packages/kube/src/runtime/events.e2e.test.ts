import { randomUUID } from 'node:crypto';
import { connectToShared } from '@slipway/testing/control-plane';
import { listEvents } from '@slipway/testing/resources';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Client } from '../client/client.ts';
import type { Resource } from '../client/resource.ts';
import { createRecorder } from './events.ts';
import { silentLog } from './log.ts';

const nodes: Resource = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };
const configMaps: Resource = { ...nodes, kind: 'ConfigMap', plural: 'configmaps', namespaced: true };

let client: Client;
beforeAll(async () => {
  client = await connectToShared();
});
afterAll(() => client.transport.close());

it.each([
  ['of the cluster', nodes, undefined, 'default'],
  ['in a namespace', configMaps, 'default', 'default'],
] as const)(
  'the API server takes events about an object %s, and shows their count',
  async (_what, resource, namespace, home) => {
    const name = `events-${randomUUID()}`;
    const object = await client.create(resource, {
      metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    });
    const recorder = createRecorder(client, { component: 'slipway-test', log: silentLog() });
    const input = { type: 'Warning', reason: 'DrainBlocked', message: `é${'x'.repeat(3000)}` } as const;
    for (let times = 0; times < 3; times += 1) {
      recorder.record(resource, object, input);
      await recorder.flush();
    }
    const seen = await listEvents(client, { namespace: home, name, uid: object.metadata.uid });
    expect(seen.map(({ reason, count }) => ({ reason, count }))).toEqual([{ reason: 'DrainBlocked', count: 3 }]);
  },
);

it('an event shows no secret of the error that it quotes', async () => {
  const name = `events-${randomUUID()}`;
  const object = await client.create(nodes, { metadata: { name } });
  const recorder = createRecorder(client, { component: 'slipway-test', log: silentLog() });
  const message = 'cannot fetch https://shop:abc12@files.example.com/a';
  recorder.record(nodes, object, { type: 'Warning', reason: 'Failed', message });
  await recorder.flush();
  const seen = await listEvents(client, { name, uid: object.metadata.uid });
  expect(seen.map((event) => event.message)).toEqual(['cannot fetch https://shop:(hidden)@files.example.com/a']);
});
