// A kind whose served versions differ between clusters, and change while a program runs, on a real kube-apiserver.
import { randomBytes } from 'node:crypto';
import { type CustomResourceDefinition, customResourceDefinitions, installCrd } from '@slipway/testing/resources';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createInformer } from '../watch/informer.ts';
import { type Client, createClient } from './client.ts';
import { loadKubeconfig } from './kubeconfig.ts';
import type { KubeObject, Resource } from './resource.ts';
import { createTransport, type Transport } from './transport.ts';

interface Thing extends KubeObject {
  spec?: { value: string };
}

const group = `${randomBytes(4).toString('hex')}.versions.example`;
let transport: Transport;
let client: Client;
const abort = new AbortController();

beforeAll(async () => {
  transport = createTransport(await loadKubeconfig([inject('kubeconfig')]));
  client = createClient(transport);
});
afterAll(async () => {
  abort.abort();
  await transport?.close();
});

const thingsOf = (plural: string): Resource<Thing> => ({
  group,
  version: 'v1',
  kind: `Kind${plural}`,
  plural,
  namespaced: false,
  newerVersions: ['v2'],
});

const servedVersions = (...served: readonly string[]) =>
  ['v1', 'v2'].map((name) => ({
    name,
    served: served.includes(name),
    storage: name === 'v1',
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  }));

const crd = ({ plural, kind }: Resource, ...served: readonly string[]): CustomResourceDefinition => ({
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { kind, plural, singular: plural, listKind: `${kind}List` },
    versions: servedVersions(...served),
  },
});

describe('a kind that callers understand in two versions', () => {
  it.each([
    { served: ['v1'], used: 'v1' },
    { served: ['v2'], used: 'v2' },
    { served: ['v1', 'v2'], used: 'v2' },
  ])('is read and written in $used where $served is served', async ({ served, used }) => {
    const things = thingsOf(`things${served.join('')}`);
    await installCrd(client, crd(things, ...served));
    // The API server lists a kind for discovery shortly after it serves it.
    const made = await until(() =>
      createClient(transport).create(things, { metadata: { name: 'a' }, spec: { value: 'a' } }),
    );
    await until(async () => {
      const { apiVersion } = await createClient(transport).get(things, { name: 'a' });
      expect(apiVersion).toBe(`${group}/${used}`);
    });
    const patched = await client.patch(
      things,
      { name: 'a' },
      { type: 'merge', body: { spec: { value: 'b' } } },
      made.metadata,
    );
    const listed = await Array.fromAsync(client.list(things));
    const informer = createInformer(transport, { resource: things });
    informer.start(abort.signal);
    await informer.synced;
    const stored = informer.store.get('a');
    const expected = { apiVersion: `${group}/${used}`, spec: { value: 'b' } };
    expect([patched, ...listed, stored]).toMatchObject([expected, expected, expected]);
  });

  it('is followed to the other version when the server stops to serve the first', async () => {
    const things = thingsOf('moved');
    await installCrd(client, crd(things, 'v1'));
    await until(() => client.create(things, { metadata: { name: 'a' } }));
    const informer = createInformer(transport, { resource: things, longestBackoffMs: 500 });
    informer.start(abort.signal);
    await informer.synced;
    expect(informer.store.get('a')?.apiVersion).toBe(`${group}/v1`);
    const spec = { versions: servedVersions('v2') };
    await client.patch(customResourceDefinitions, crd(things).metadata, { type: 'merge', body: { spec } }, {});
    await until(async () => expect((await client.get(things, { name: 'a' })).apiVersion).toBe(`${group}/v2`));
    await client.patch(things, { name: 'a' }, { type: 'merge', body: { spec: { value: 'b' } } }, {});
    expect((await Array.fromAsync(client.list(things))).map(({ spec: found }) => found)).toEqual([{ value: 'b' }]);
    await until(
      () => expect(informer.store.get('a')).toMatchObject({ apiVersion: `${group}/v2`, spec: { value: 'b' } }),
      'rollout',
    );
  });
});
