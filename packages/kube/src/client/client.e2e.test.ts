import { createPrivateKey, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { makeSelfSigned, signToken } from '@slipway/testing/certificates';
import { borrowControlPlane, type ControlPlane, pickFreePort } from '@slipway/tools/controlplane';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createInformer, type InformerOptions } from '../watch/informer.ts';
import { type Client, createClient } from './client.ts';
import { fixedCredentials } from './credentials.ts';
import type { ClusterAccess } from './access.ts';
import { loadKubeconfig } from './kubeconfig.ts';
import type { KubeObject, Name, Resource, Stored } from './resource.ts';
import { createTransport, type Transport } from './transport.ts';

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}
interface Pod extends KubeObject {
  spec?: object;
  status?: { phase?: string };
}
interface Node extends KubeObject {
  status?: { nodeInfo?: { machineID?: string }; capacity?: Record<string, string> };
}

const core = { group: '', version: 'v1', namespaced: true } as const;
const configMaps: Resource<ConfigMap> = { ...core, kind: 'ConfigMap', plural: 'configmaps' };
const namespaces: Resource = { ...core, kind: 'Namespace', plural: 'namespaces', namespaced: false };
const serviceAccounts: Resource = { ...core, kind: 'ServiceAccount', plural: 'serviceaccounts' };
const pods: Resource<Pod> = { ...core, kind: 'Pod', plural: 'pods' };
const nodes: Resource<Node> = { ...core, kind: 'Node', plural: 'nodes', namespaced: false };
const budgets: Resource = {
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  namespaced: true,
};

let controlPlane: ControlPlane;
let access: ClusterAccess;
let transport: Transport;
let client: Client;
let namespace: string;

beforeAll(async () => {
  // A dedicated control plane: the key that signs service account tokens is needed.
  controlPlane = await borrowControlPlane();
  access = await loadKubeconfig([controlPlane.kubeconfig]);
  transport = createTransport(access);
  client = createClient(transport);
  namespace = `client-${randomBytes(4).toString('hex')}`;
  await client.create(namespaces, { metadata: { name: namespace } });
  await client.create(serviceAccounts, { metadata: { namespace, name: 'default' } });
});

afterAll(async () => {
  await transport.close();
  await controlPlane.stop();
});

const here = (name: string): Name & { namespace: string } => ({ namespace, name });
const makeConfigMap = (name: string, data: Record<string, string> = { a: '1' }): Promise<Stored<ConfigMap>> =>
  client.create(configMaps, { metadata: here(name), data });
const conflict = { code: 'SLW_KUBE_CONFLICT' };

describe('one object', () => {
  it('is created once, and read back unchanged', async () => {
    const made = await makeConfigMap('once');
    expect(await client.get(configMaps, here('once'))).toEqual(made);
    expect(await client.find(configMaps, here('once'))).toEqual(made);
    await expect(makeConfigMap('once')).rejects.toMatchObject({ code: 'SLW_KUBE_ALREADY_EXISTS', status: 409 });
  });

  it('that does not exist is reported as not found, or undefined from find', async () => {
    await expect(client.get(configMaps, here('none'))).rejects.toMatchObject({
      code: 'SLW_KUBE_NOT_FOUND',
      message: `get ConfigMap ${namespace}/none: configmaps "none" not found`,
    });
    expect(await client.find(configMaps, here('none'))).toBeUndefined();
  });

  it('in a namespace that does not exist: the error names the namespace', async () => {
    const lost = client.create(configMaps, { metadata: { namespace: 'nowhere', name: 'a' } });
    await expect(lost).rejects.toMatchObject({
      code: 'SLW_KUBE_NOT_FOUND',
      message: expect.stringContaining('nowhere'),
    });
  });

  it('that violates its schema is rejected, with the field', async () => {
    const bad = client.create(configMaps, { metadata: here('a'), data: { 'not a key': '' } });
    await expect(bad).rejects.toMatchObject({ code: 'SLW_KUBE_INVALID', message: expect.stringContaining('data') });
  });

  it('is not created by a dry run', async () => {
    await client.create(configMaps, { metadata: here('dry') }, { dryRun: true });
    expect(await client.find(configMaps, here('dry'))).toBeUndefined();
  });
});

describe('a patch', () => {
  it('supports merge, strategic merge and JSON patch', async () => {
    await makeConfigMap('patched', { a: '1', b: '2' });
    const merged = await client.patch(
      configMaps,
      here('patched'),
      { type: 'merge', body: { data: { a: null, c: '3' } } },
      {},
    );
    expect(merged.data).toEqual({ b: '2', c: '3' });
    const strategic = await client.patch(
      configMaps,
      here('patched'),
      { type: 'strategic', body: { metadata: { finalizers: ['example.com/a'] } } },
      {},
    );
    expect(strategic.metadata.finalizers).toEqual(['example.com/a']);
    const body = [
      { op: 'replace', path: '/data/b', value: '4' },
      { op: 'remove', path: '/metadata/finalizers' },
    ];
    const stepwise = await client.patch(configMaps, here('patched'), { type: 'json', body }, {});
    expect(stepwise.data).toEqual({ b: '4', c: '3' });
    expect(stepwise.metadata.finalizers).toBeUndefined();
  });

  const patches = {
    merge: { type: 'merge', body: { data: { a: 'new' } } },
    strategic: { type: 'strategic', body: { data: { a: 'new' } } },
    json: { type: 'json', body: [{ op: 'add', path: '/data/a', value: 'new' }] },
  } as const;

  it.each(['merge', 'strategic', 'json'] as const)(
    '(%s) lands only on the version and the object that were meant',
    async (type) => {
      const name = `precondition-${type}`;
      const first = await makeConfigMap(name);
      const second = await client.patch(configMaps, here(name), { type: 'merge', body: { data: { b: '2' } } }, {});
      const patch = patches[type];
      const { uid, resourceVersion } = second.metadata;
      const stale = { resourceVersion: first.metadata.resourceVersion };
      await expect(client.patch(configMaps, here(name), patch, stale)).rejects.toMatchObject(conflict);
      const another = { uid: '00000000-0000-0000-0000-000000000000' };
      await expect(client.patch(configMaps, here(name), patch, another)).rejects.toMatchObject(conflict);
      expect(await client.get(configMaps, here(name))).toEqual(second);
      const third = await client.patch(configMaps, here(name), patch, { uid, resourceVersion });
      expect(third.data).toEqual({ a: 'new', b: '2' });
    },
  );
});

describe('server-side apply', () => {
  it('creates, changes its own fields, and reports a conflict on another manager’s field, unless forced', async () => {
    const applied = { metadata: here('applied'), data: { a: 'one' } };
    await client.apply(configMaps, applied, {}, { fieldManager: 'one' });
    const other = { metadata: here('applied'), data: { a: 'two' } };
    await expect(client.apply(configMaps, other, {}, { fieldManager: 'two' })).rejects.toMatchObject({
      ...conflict,
      message: expect.stringContaining('conflict with "one"'),
    });
    const forced = await client.apply(configMaps, other, {}, { fieldManager: 'two', force: true });
    expect(forced.data).toEqual({ a: 'two' });
    const emptied = await client.apply(configMaps, { metadata: here('applied') }, {}, { fieldManager: 'two' });
    expect(emptied.data).toBeUndefined();
  });

  it('applies only to the intended object and version', async () => {
    const first = await client.apply(
      configMaps,
      { metadata: here('held'), data: { a: '1' } },
      {},
      { fieldManager: 'one' },
    );
    await client.patch(configMaps, here('held'), { type: 'merge', body: { data: { b: '2' } } }, {});
    const again = { metadata: here('held'), data: { a: '3' } };
    const stale = { resourceVersion: first.metadata.resourceVersion };
    await expect(client.apply(configMaps, again, stale, { fieldManager: 'one' })).rejects.toMatchObject(conflict);
    const gone = { metadata: here('never-there'), data: { a: '3' } };
    const meant = { uid: first.metadata.uid };
    await expect(client.apply(configMaps, gone, meant, { fieldManager: 'one' })).rejects.toMatchObject(conflict);
  });
});

it('the status of an object is written separately', async () => {
  const node = await client.create(nodes, { metadata: { name: 'a-node' } });
  const { resourceVersion } = node.metadata;
  const body = { metadata: { labels: { ignored: 'yes' } }, status: { capacity: { cpu: '4' } } };
  const changed = await client.patch(
    nodes,
    { name: 'a-node' },
    { type: 'merge', body },
    { resourceVersion },
    { subresource: 'status' },
  );
  expect(changed.status?.capacity).toEqual({ cpu: '4' });
  const late = client.patch(
    nodes,
    { name: 'a-node' },
    { type: 'merge', body },
    { resourceVersion },
    { subresource: 'status' },
  );
  await expect(late).rejects.toMatchObject(conflict);
});

describe('deletion', () => {
  it('applies only to the intended object and version', async () => {
    const made = await makeConfigMap('going');
    const { uid, resourceVersion } = made.metadata;
    const wrongUid = { uid: '00000000-0000-0000-0000-000000000000' };
    await expect(client.delete(configMaps, here('going'), wrongUid)).rejects.toMatchObject(conflict);
    await expect(client.delete(configMaps, here('going'), { resourceVersion: '1' })).rejects.toMatchObject(conflict);
    await client.delete(configMaps, here('going'), { uid, resourceVersion });
    expect(await client.find(configMaps, here('going'))).toBeUndefined();
    await expect(client.delete(configMaps, here('going'), {})).rejects.toMatchObject({ code: 'SLW_KUBE_NOT_FOUND' });
  });
});

describe('eviction', () => {
  const makePod = (name: string): Promise<Stored<Pod>> =>
    client.create(pods, {
      metadata: { ...here(name), labels: { app: 'guarded' } },
      spec: {
        nodeName: 'some-node',
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'c', image: 'example.com/i' }],
      },
    });

  it('is blocked while a PodDisruptionBudget forbids it, then evicts the intended pod', async () => {
    const pod = await makePod('evicted');
    const running = {
      type: 'merge',
      body: { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
    } as const;
    await client.patch(pods, here('evicted'), running, {}, { subresource: 'status' });
    const spec = { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } };
    const budget = await client.create(budgets, { metadata: here('budget'), spec } as KubeObject);
    // The controller that counts the pods does not run here.
    const status = {
      observedGeneration: 1,
      disruptionsAllowed: 0,
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
    };
    await client.patch(budgets, here('budget'), { type: 'merge', body: { status } }, {}, { subresource: 'status' });
    const { uid } = pod.metadata;
    await expect(client.evict(here('evicted'), { uid })).rejects.toMatchObject({
      code: 'SLW_KUBE_BLOCKED',
      message: expect.stringContaining(`evict Pod ${namespace}/evicted: Cannot evict pod as it would violate`),
    });
    await client.delete(budgets, here('budget'), { uid: budget.metadata.uid });
    const wrongUid = { uid: '00000000-0000-0000-0000-000000000000' };
    await expect(client.evict(here('evicted'), wrongUid)).rejects.toMatchObject(conflict);
    await client.evict(here('evicted'), { uid });
    expect(await client.find(pods, here('evicted'))).toBeUndefined();
  });
});

describe('many objects', () => {
  beforeAll(async () => {
    await Promise.all(
      Array.from({ length: 25 }, (_, n) =>
        client.create(configMaps, {
          metadata: { ...here(`many-${String(n).padStart(2, '0')}`), labels: { many: n % 2 === 0 ? 'even' : 'odd' } },
          data: { n: String(n), text: '},{"metadata":{"name":"x"}} ü𝄞 \\"' },
        }),
      ),
    );
  });

  const listed = async (options: Parameters<Client['list']>[1]): Promise<Stored<ConfigMap>[]> => {
    const all: Stored<ConfigMap>[] = [];
    for await (const object of client.list(configMaps, options)) all.push(object);
    return all;
  };

  it('are the same in one page and in several', async () => {
    const labelSelector = 'many';
    const whole = await listed({ namespace, labelSelector });
    expect(whole.map(({ data }) => data?.['n'])).toEqual(Array.from({ length: 25 }, (_, n) => String(n)));
    expect(await listed({ namespace, labelSelector, pageSize: 4 })).toEqual(whole);
    const [first] = whole;
    expect(first).toEqual(await client.get(configMaps, here('many-00')));
  });

  it('match the selectors', async () => {
    expect(await listed({ namespace, labelSelector: 'many=odd' })).toHaveLength(12);
    expect(await listed({ namespace, fieldSelector: 'metadata.name=many-03' })).toHaveLength(1);
    expect(await listed({ namespace, labelSelector: 'many=none' })).toEqual([]);
  });

  const synced = async (options: Partial<InformerOptions<ConfigMap>>): Promise<Map<string, Stored<ConfigMap>>> => {
    const abort = new AbortController();
    const informer = createInformer(transport, { resource: configMaps, namespace, labelSelector: 'many', ...options });
    informer.start(abort.signal);
    await informer.synced;
    abort.abort();
    return new Map([...informer.store.values()].map((object) => [object.metadata.name, object]));
  };

  it('fill the same store, streamed or listed', async () => {
    const few = await synced({ expect: 'few' });
    expect(few.size).toBe(25);
    expect(await synced({ expect: 'many' })).toEqual(few);
    const [, object] = [...few][0] ?? [];
    const { managedFields: _, ...metadata } = {
      ...(await client.get(configMaps, here('many-00'))).metadata,
      managedFields: 0,
    };
    expect(object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    expect(object?.metadata).not.toHaveProperty('managedFields');
  });

  it('fill the same store with their metadata alone, streamed or listed', async () => {
    const few = await synced({ as: 'metadata', expect: 'few' });
    expect(await synced({ as: 'metadata', expect: 'many' })).toEqual(few);
    const full = await synced({});
    const stripped = [...full.values()].map(({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }));
    expect([...few.values()]).toEqual(stripped);
  });

  it('are stored as projected', async () => {
    const project = ({ metadata }: Stored<ConfigMap>): Stored<ConfigMap> => ({
      metadata: { name: metadata.name, namespace, uid: metadata.uid, resourceVersion: metadata.resourceVersion },
    });
    const kept = await synced({ project });
    expect([...kept.values()].every((object) => Object.keys(object).join() === 'metadata')).toBe(true);
  });
});

describe('who asks', () => {
  const asToken = (token: string): Client =>
    createClient(createTransport({ ...access, credentials: fixedCredentials({ token }, 'a test') }));

  it('may be a service account with a token from the server', async () => {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`;
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } };
    const made = await transport.json({ method: 'POST', path, body, retry: 'never', what: 'create a token' });
    const { token } = (made as { status: { token: string } }).status;
    await expect(asToken(token).get(configMaps, here('x'))).rejects.toMatchObject({
      code: 'SLW_KUBE_FORBIDDEN',
      message: expect.stringContaining(`system:serviceaccount:${namespace}:default`),
    });
  });

  it('may be a user with a certificate, and learns what is forbidden', async () => {
    const path = await controlPlane.kubeconfigFor({ user: 'jane', groups: ['team'] });
    const jane = createTransport(await loadKubeconfig([path]));
    await expect(createClient(jane).get(configMaps, here('x'))).rejects.toMatchObject({
      code: 'SLW_KUBE_FORBIDDEN',
      message: expect.stringContaining('User "jane" cannot get resource "configmaps"'),
    });
    await jane.close();
  });

  it('with an expired token gets an error with the expiry time, in one line', async () => {
    const key = createPrivateKey(await readFile(controlPlane.serviceAccountKeyPath));
    const { uid } = (await client.get(serviceAccounts, here('default'))).metadata;
    const ended = Math.floor(Date.now() / 1000) - 3600;
    const token = signToken(key, {
      iss: 'https://kubernetes.default.svc',
      aud: ['https://kubernetes.default.svc'],
      sub: `system:serviceaccount:${namespace}:default`,
      iat: ended - 600,
      nbf: ended - 600,
      exp: ended,
      'kubernetes.io': { namespace, serviceaccount: { name: 'default', uid } },
    });
    await expect(asToken(token).get(configMaps, here('x'))).rejects.toMatchObject({
      code: 'SLW_KUBE_UNAUTHORIZED',
      message: `get ConfigMap ${namespace}/x: the token expired at ${new Date(ended * 1000).toISOString()}. Log in again, or pass a kubeconfig with a valid token`,
    });
  });

  it('with an invalid token gets a clear error', async () => {
    await expect(asToken('nonsense').get(configMaps, here('x'))).rejects.toMatchObject({
      code: 'SLW_KUBE_UNAUTHORIZED',
      message: expect.stringContaining('the API server does not accept the credentials. Log in again'),
    });
  });
});

describe('the server', () => {
  const failing = async (wrong: Partial<ClusterAccess>, retryForMs = 0): Promise<unknown> => {
    const elsewhere = createTransport({ ...access, ...wrong }, { retryForMs });
    const error = await createClient(elsewhere)
      .get(configMaps, here('x'))
      .catch((reason: unknown) => reason);
    await elsewhere.close();
    return error;
  };

  it('whose certificate is signed by another CA is not trusted', async () => {
    const { cert } = await makeSelfSigned('another-ca');
    expect(await failing({ ca: async () => cert })).toMatchObject({
      code: 'SLW_KUBE_TLS',
      message: expect.stringMatching(
        /^get ConfigMap .*: the certificate of https:\/\/127.0.0.1:\d+ is not trusted \([A-Z_]+\)\. Add the CA/,
      ),
    });
  });

  it('whose certificate is for another name is not trusted', async () => {
    expect(await failing({ tlsServerName: 'another.example' })).toMatchObject({ code: 'SLW_KUBE_TLS' });
  });

  it('that does not respond is unreachable', async () => {
    const server = `https://127.0.0.1:${await pickFreePort()}`;
    expect(await failing({ server })).toMatchObject({
      code: 'SLW_KUBE_UNREACHABLE',
      message: `get ConfigMap ${namespace}/x: no connection to ${server} (ECONNREFUSED). Check that the API server is running and that the address in the kubeconfig is correct`,
    });
  });

  it.each<[string, Resource]>([
    [
      'of a group it does not have',
      { group: 'none.example', version: 'v1', kind: 'Thing', plural: 'things', namespaced: true },
    ],
    ['that its own group does not have', { ...core, kind: 'Thing', plural: 'things' }],
  ])('reports that it does not serve a kind %s', async (_, resource) => {
    const expected = { code: 'SLW_KUBE_KIND_NOT_INSTALLED', message: expect.stringContaining('slipway install') };
    await expect(client.get(resource, here('a'))).rejects.toMatchObject(expected);
    await expect(client.create(resource, { metadata: here('a') })).rejects.toMatchObject(expected);
    await expect(client.list(resource).next()).rejects.toMatchObject(expected);
  });
});
