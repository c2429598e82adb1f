import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { type Client, createClient } from '../client/client.ts';
import { loadKubeconfig } from '../client/kubeconfig.ts';
import type { KubeObject, Resource } from '../client/resource.ts';
import { createTransport } from '../client/transport.ts';
import { createRecorder } from './events.ts';
import { silentLog } from './log.ts';

interface Event extends KubeObject {
  reason: string;
  message: string;
  count: number;
}
const events: Resource<Event> = { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true };
const nodes: Resource = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };
const configMaps: Resource = { ...nodes, kind: 'ConfigMap', plural: 'configmaps', namespaced: true };

let client: Client;
beforeAll(async () => {
  client = createClient(createTransport(await loadKubeconfig([inject('kubeconfig')])));
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
    const happening = { type: 'Warning', reason: 'DrainBlocked', message: `é${'x'.repeat(3000)}` } as const;
    for (let times = 0; times < 3; times += 1) {
      recorder.record(resource, object, happening);
      await recorder.flush();
    }
    const seen: Event[] = [];
    const fieldSelector = `involvedObject.name=${name},involvedObject.uid=${object.metadata.uid}`;
    for await (const event of client.list(events, { namespace: home, fieldSelector })) seen.push(event);
    expect(seen.map(({ reason, count }) => ({ reason, count }))).toEqual([{ reason: 'DrainBlocked', count: 3 }]);
  },
);
