import { openScratchNamespace, type ScratchNamespace } from '@slipway/testing/control-plane';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client } from './client.ts';
import type { KubeObject, Name, Resource, Stored } from './resource.ts';
import { anyVersion, createWriter, type Writer } from './writer.ts';

interface ConfigMap extends KubeObject {
  metadata: KubeObject['metadata'] & { managedFields?: { manager: string; operation: string }[] };
  data?: Record<string, string>;
}
interface Node extends KubeObject {
  status?: { capacity?: Record<string, string> };
}

const core = { group: '', version: 'v1' } as const;
const configMaps: Resource<ConfigMap> = { ...core, kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const nodes: Resource<Node> = { ...core, kind: 'Node', plural: 'nodes', namespaced: false };

const here = (name: string): Name & { namespace: string } => ({ namespace, name });
const conflict = { code: 'SLW_KUBE_CONFLICT' };
let scratch: ScratchNamespace;
let client: Client;
let namespace: string;
let write: Writer;

beforeAll(async () => {
  scratch = await openScratchNamespace('writer');
  ({ client, namespace } = scratch);
  write = createWriter(client, { fieldManager: 'the-writer' });
});
afterAll(() => scratch.close());

const make = (name: string): Promise<Stored<ConfigMap>> =>
  write.create(configMaps, { metadata: here(name), data: { a: '1' } });

/** The object before another client changed it. */
async function changedMeanwhile(name: string): Promise<Stored<ConfigMap>> {
  const before = await make(name);
  await client.patch(configMaps, here(name), { type: 'merge', body: { data: { other: 'x' } } }, {});
  return before;
}

/** The object before it was deleted and another one was created with its name. */
async function replacedMeanwhile(name: string): Promise<Stored<ConfigMap>> {
  const before = await make(name);
  await client.delete(configMaps, here(name), {});
  await make(name);
  return before;
}

const changes: [string, (object: Parameters<Writer['patch']>[1], name: string) => Promise<Stored<ConfigMap>>][] = [
  ['patch', (object) => write.patch(configMaps, object, { data: { a: 'new' } })],
  ['json-patch', (object) => write.jsonPatch(configMaps, object, [{ op: 'replace', path: '/data/a', value: 'new' }])],
  [
    'apply',
    (object, name) => write.apply(configMaps, object, { metadata: here(name), data: { a: 'new' } }, { force: true }),
  ],
];

describe.each(changes)('%s', (kind, change) => {
  it('applies to the object that was read, with the writer as field manager', async () => {
    const name = `${kind}-lands`;
    const written = await change(await make(name), name);
    expect(written.data).toEqual({ a: 'new' });
    expect(new Set(written.metadata.managedFields?.map(({ manager }) => manager))).toEqual(new Set(['the-writer']));
  });

  it('does not apply to a version that was not read', async () => {
    const name = `${kind}-changed`;
    const before = await changedMeanwhile(name);
    await expect(change(before, name)).rejects.toMatchObject(conflict);
    const written = await change(anyVersion(before.metadata), name);
    expect(written.data).toEqual({ a: 'new', other: 'x' });
  });

  it('does not apply to another object with that name', async () => {
    const name = `${kind}-replaced`;
    const before = await replacedMeanwhile(name);
    await expect(change(before, name)).rejects.toMatchObject(conflict);
    await expect(change(anyVersion(before.metadata), name)).rejects.toMatchObject(conflict);
    expect((await change(anyVersion(here(name)), name)).data).toEqual({ a: 'new' });
  });
});

describe('a removal', () => {
  it('applies to the version that was read, or to any', async () => {
    const before = await changedMeanwhile('removed');
    await expect(write.remove(configMaps, before)).rejects.toMatchObject(conflict);
    await write.remove(configMaps, anyVersion(before.metadata));
    expect(await client.find(configMaps, here('removed'))).toBeUndefined();
    await write.remove(configMaps, before);
    await write.remove(configMaps, anyVersion(here('removed')));
  });

  it('does not delete another object with that name', async () => {
    const before = await replacedMeanwhile('stays');
    await write.remove(configMaps, anyVersion(before.metadata));
    expect(await client.find(configMaps, here('stays'))).toBeDefined();
  });
});

it('an existing object is not created again', async () => {
  const made = await write.createIfAbsent(configMaps, { metadata: here('once') });
  expect(made?.metadata.name).toBe('once');
  expect(await write.createIfAbsent(configMaps, { metadata: here('once'), data: { a: 'b' } })).toBeUndefined();
  expect((await client.get(configMaps, here('once'))).data).toBeUndefined();
});

it('a status is patched and applied on the version that was read', async () => {
  const node = await write.create(nodes, { metadata: { name: namespace } });
  try {
    const patched = await write.patchStatus(nodes, node, { capacity: { cpu: '4' } });
    expect(patched.status?.capacity).toEqual({ cpu: '4' });
    const fields = { metadata: { name: namespace }, status: { capacity: { memory: '8Gi' } } };
    const options = { subresource: 'status', force: true } as const;
    await expect(write.apply(nodes, node, fields, options)).rejects.toMatchObject(conflict);
    const applied = await write.apply(nodes, patched, fields, options);
    expect(applied.status?.capacity).toEqual({ cpu: '4', memory: '8Gi' });
  } finally {
    await write.remove(nodes, anyVersion(node.metadata));
  }
});
