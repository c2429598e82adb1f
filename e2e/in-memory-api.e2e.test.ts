// The API in memory, on which most of the simulated rollouts run, against the real one: the same calls, the same answers.
import { type MachineConfigPool, machineConfigPools, type Node, nodes, podDisruptionBudgets, pods } from '@slipway/api';
import { createMemoryApi, createMemoryClient, openView } from '@slipway/controllers/testing/simulation';
import {
  type Change as KubeChange,
  type Client,
  createInformer,
  KubeError,
  type KubeObject,
  type Stored,
} from '@slipway/kube';
import { startTestCluster, type TestCluster } from '@slipway/testing/control-plane';
import { addBudget, addNamespace, addPod, allowDisruptions } from '@slipway/testing/stand-in-kubelet';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let cluster: TestCluster;
let real: Client;
const api = createMemoryApi(Date.now);
const memory = createMemoryClient(api);

beforeAll(async () => {
  cluster = await startTestCluster();
  real = cluster.operator;
  await addNamespace(real, 'apps');
}, 120_000);
afterAll(() => cluster?.stop(), 60_000);

/** What a call came to: what of the answer both servers must agree on, or the code of the error. */
async function outcome<T>(call: Promise<T>): Promise<unknown> {
  try {
    return (await call) ?? 'nothing';
  } catch (error) {
    return error instanceof KubeError ? error.code : error;
  }
}

const merge = (body: object) => ({ type: 'merge', body }) as const;
const annotate = (annotations: Record<string, string | null>) => merge({ metadata: { annotations } });

const poolFields = ({ metadata, spec, status }: Stored<MachineConfigPool>) => ({
  generation: metadata.generation,
  annotations: metadata.annotations,
  isBeingDeleted: metadata.deletionTimestamp !== undefined,
  maxUnavailable: spec.maxUnavailable,
  paused: spec.paused,
  machineCount: status?.machineCount,
});
const nodeFields = ({ metadata, spec, status }: Stored<Node>) => ({
  generation: metadata.generation,
  annotations: metadata.annotations,
  // A typed kind has no empty map, a custom one may.
  labels: metadata.labels ?? {},
  unschedulable: spec?.unschedulable,
  ready: status?.conditions?.map(({ type, status }) => [type, status]),
});

const pool = (name: string): MachineConfigPool => ({
  metadata: { name, annotations: { a: '1', b: '2' } },
  spec: { maxUnavailable: 1, nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: '' } } },
  status: { machineCount: 7 },
});
const node = (name: string): Node => ({
  metadata: { name, labels: { group: name }, annotations: { a: '1' } },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
});
const nobody = { uid: '00000000-0000-4000-8000-ffffffffffff' };

const scripts: Record<string, (client: Client) => Promise<unknown[]>> = {
  'an object of that name exists, or does not': async (client) => [
    await outcome(client.create(nodes, node('once')).then(nodeFields)),
    await outcome(client.create(nodes, node('once'))),
    await outcome(client.get(nodes, { name: 'never' })),
    await outcome(client.find(nodes, { name: 'never' })),
    await outcome(client.patch(nodes, { name: 'never' }, annotate({ a: '2' }), {})),
    await outcome(client.delete(nodes, { name: 'never' }, {})),
    await outcome(client.evict({ namespace: 'apps', name: 'never' }, {})),
  ],

  'a merge patch changes what it names, takes away what it says null of, and leaves the rest': async (client) => {
    await client.create(nodes, node('patched'));
    const name = { name: 'patched' };
    return [
      await outcome(client.patch(nodes, name, annotate({ b: '2', a: null }), {}).then(nodeFields)),
      await outcome(client.patch(nodes, name, merge({ spec: { unschedulable: true } }), {}).then(nodeFields)),
      await outcome(client.patch(nodes, name, merge({ spec: { unschedulable: null } }), {}).then(nodeFields)),
      await outcome(client.patch(nodes, name, merge({ metadata: { labels: { group: null } } }), {}).then(nodeFields)),
    ];
  },

  'a JSON patch adds, replaces and removes, or does not fit': async (client) => {
    const name = { name: 'json' };
    await client.create(nodes, node('json'));
    const patch = (...body: object[]) =>
      outcome(client.patch(nodes, name, { type: 'json', body }, {}).then(nodeFields));
    return [
      await patch({ op: 'add', path: '/metadata/annotations/example.com~1x', value: 'y' }),
      await patch({ op: 'replace', path: '/metadata/annotations/a', value: '9' }),
      await patch({ op: 'remove', path: '/metadata/annotations/a' }),
      await patch({ op: 'remove', path: '/metadata/annotations/a' }),
    ];
  },

  'a write with a precondition lands on that very object and version, or not at all': async (client) => {
    const { metadata } = await client.create(nodes, node('guarded'));
    const { name, uid, resourceVersion } = metadata;
    const first = await client.patch(nodes, { name }, annotate({ a: '2' }), { uid, resourceVersion });
    return [
      nodeFields(first),
      await outcome(client.patch(nodes, { name }, annotate({ a: '3' }), { uid, resourceVersion })),
      await outcome(client.patch(nodes, { name }, annotate({ a: '3' }), nobody)),
      await outcome(client.delete(nodes, { name }, nobody)),
      await outcome(client.delete(nodes, { name }, { uid, resourceVersion })),
      await outcome(client.get(nodes, { name }).then(nodeFields)),
      await outcome(client.delete(nodes, { name }, { uid }).then(() => 'deleted')),
      await outcome(client.find(nodes, { name })),
    ];
  },

  'a patch that changes nothing makes no new version; any other one makes a later one': async (client) => {
    const created = await client.create(nodes, node('versions'));
    const same = await client.patch(nodes, { name: 'versions' }, annotate({ a: '1' }), {});
    const other = await client.patch(nodes, { name: 'versions' }, annotate({ a: '2' }), {});
    const [first, second, third] = [created, same, other].map(({ metadata }) => Number(metadata.resourceVersion));
    return [first === second, (third ?? 0) > (second ?? 0)];
  },

  'generation counts changes of the spec; status and the rest are written apart': async (client) => {
    const name = { name: 'counted' };
    const status = { subresource: 'status' } as const;
    const all = { metadata: { annotations: { c: '3' } }, spec: { paused: true }, status: { machineCount: 9 } };
    return [
      await outcome(client.create(machineConfigPools, pool('counted')).then(poolFields)),
      await outcome(client.patch(machineConfigPools, name, annotate({ a: null }), {}).then(poolFields)),
      await outcome(
        client.patch(machineConfigPools, name, merge({ spec: { maxUnavailable: '10%' } }), {}).then(poolFields),
      ),
      await outcome(client.patch(machineConfigPools, name, merge(all), {}, status).then(poolFields)),
      await outcome(
        client.patch(machineConfigPools, name, merge({ ...all, status: { machineCount: 1 } }), {}).then(poolFields),
      ),
    ];
  },

  'the status of a Node is written apart, and may bring annotations with it': async (client) => {
    const name = { name: 'kubelet' };
    const conditions = [{ type: 'Ready', status: 'False' }];
    const all = { metadata: { annotations: { c: '3' } }, spec: { unschedulable: true }, status: { conditions } };
    await client.create(nodes, node('kubelet'));
    return [
      await outcome(client.patch(nodes, name, merge({ status: { conditions } }), {}).then(nodeFields)),
      await outcome(client.patch(nodes, name, merge(all), {}, { subresource: 'status' }).then(nodeFields)),
    ];
  },

  'what has a finalizer stays until it is taken away': async (client) => {
    const name = { name: 'kept' };
    const { metadata, ...rest } = pool('kept');
    await client.create(machineConfigPools, { ...rest, metadata: { ...metadata, finalizers: ['example.com/kept'] } });
    return [
      await outcome(client.delete(machineConfigPools, name, {}).then(() => 'asked to go')),
      await outcome(client.get(machineConfigPools, name).then(poolFields)),
      await outcome(client.delete(machineConfigPools, name, {}).then(() => 'asked again')),
      await outcome(
        client.patch(machineConfigPools, name, merge({ metadata: { finalizers: null } }), {}).then(() => 'let go'),
      ),
      await outcome(client.find(machineConfigPools, name)),
    ];
  },

  'a list has what its selectors say': async (client) => {
    await client.create(nodes, node('listed-a'));
    await client.create(nodes, node('listed-b'));
    const names = async (options: { labelSelector?: string; fieldSelector?: string }): Promise<string[]> =>
      (await Array.fromAsync(client.list(nodes, options))).map(({ metadata }) => metadata.name).sort();
    return [
      await names({ labelSelector: 'group=listed-a' }),
      await names({ fieldSelector: 'metadata.name=listed-b' }),
      await names({ labelSelector: 'group=listed-a', fieldSelector: 'metadata.name=listed-b' }),
    ];
  },

  'an eviction asks the budget of a pod, and counts': async (client) => {
    const [budget, name, other] = ['web', 'web-1', 'web-2'].map((each) => ({ namespace: 'apps', name: each }));
    if (budget === undefined || name === undefined || other === undefined) return [];
    const allowed = async () => (await client.get(podDisruptionBudgets, budget)).status?.disruptionsAllowed;
    const isGoing = async () => (await client.find(pods, name))?.metadata.deletionTimestamp !== undefined;
    await client.create(nodes, node('evicted'));
    await addPod(client, name, 'evicted', { metadata: { labels: { app: 'web' } } });
    await addPod(client, other, 'evicted', { metadata: { labels: { app: 'web' } } });
    await addBudget(client, budget, { app: 'web' }, 0);
    const blocked = [await outcome(client.evict(name, {})), await outcome(client.evict(name, nobody)), await isGoing()];
    await allowDisruptions(client, budget, 1);
    const { uid } = (await client.get(pods, name)).metadata;
    // The budget is asked first, and has counted when the pod turns out to be another one.
    const another = [await outcome(client.evict(name, nobody)), await allowed(), await isGoing()];
    await allowDisruptions(client, budget, 1);
    const freed = [
      await outcome(client.evict(name, { uid }).then(() => 'evicted')),
      await isGoing(),
      await allowed(),
      await outcome(client.evict(name, { uid }).then(() => 'evicted again')),
      await allowed(),
      await outcome(client.evict(other, {})),
      await outcome(client.delete(pods, name, {}, { gracePeriodSeconds: 0 }).then(() => 'ended')),
      await outcome(client.find(pods, name)),
    ];
    return [...blocked, ...another, ...freed];
  },

  'a pod that does not run yet is evicted whatever its budget says': async (client) => {
    const [budget, name] = ['new', 'new-1'].map((each) => ({ namespace: 'apps', name: each }));
    if (budget === undefined || name === undefined) return [];
    await client.create(nodes, node('starting'));
    await client.create(pods, {
      metadata: { ...name, labels: { app: 'new' } },
      spec: { nodeName: 'starting', containers: [{ name: 'web', image: 'registry.example.com/web' }] },
      status: { phase: 'Running' },
    });
    await addBudget(client, budget, { app: 'new' }, 0);
    const { status } = await client.get(pods, name);
    return [status?.phase, await outcome(client.evict(name, {}).then(() => 'evicted'))];
  },
};

describe('the API in memory answers as the real one', () => {
  it.each(Object.entries(scripts))('%s', async (_, script) => {
    const expected = await script(real);
    expect(expected.length).toBeGreaterThan(0);
    expect(await script(memory)).toEqual(expected);
  });

  it('shows every change to who watches, in the order in which they were made', async () => {
    const stop = new AbortController();
    const informer = createInformer<Node>(real.transport, { resource: nodes });
    const fromReal: string[] = [];
    informer.onChange((change) => fromReal.push(...describeChange(change)));
    informer.start(stop.signal);
    await informer.synced;
    await changeSome(real);
    await until(() => expect(fromReal.at(-1)).toBe('added watched-z 1'));
    stop.abort();

    const view = openView(api, { resource: nodes });
    await changeSome(memory);
    const fromMemory: string[] = [];
    while (view.behind > 0) for (const change of view.advance()) fromMemory.push(...describeChange(change));
    expect(fromMemory).toEqual(fromReal);
  });
});

async function changeSome(client: Client): Promise<void> {
  const patch = (name: string, a: string) => client.patch(nodes, { name }, annotate({ a }), {});
  await client.create(nodes, node('watched-a'));
  await client.create(nodes, node('watched-b'));
  for (const value of ['2', '2', '3']) await patch('watched-a', value);
  await patch('watched-b', '4');
  await client.delete(nodes, { name: 'watched-a' }, {});
  await client.create(nodes, node('watched-a'));
  await patch('watched-a', '5');
  await client.create(nodes, node('watched-z'));
}

/** Nothing of other tests' nodes. */
function describeChange(change: KubeChange<KubeObject>): string[] {
  const { metadata } = change.type === 'deleted' ? change.old : change.object;
  return metadata.name.startsWith('watched-') ? [`${change.type} ${metadata.name} ${metadata.annotations?.a}`] : [];
}
