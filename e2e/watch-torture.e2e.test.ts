import { createClient, createTransport, keyOf, loadKubeconfig } from '@slipway/kube';
import type { Client, KubeObject, Resource, Stored } from '@slipway/kube';
import { startControlPlane } from '@slipway/tools/controlplane';
import type { ControlPlane } from '@slipway/tools/controlplane';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startFaultProxy } from './fault-proxy.ts';
import type { FaultProxy } from './fault-proxy.ts';
import { etcdBelow } from './watch-torture/etcd.ts';
import { randomFrom } from './watch-torture/random.ts';
import { configMaps, startWriters } from './watch-torture/writers.ts';
import type { ConfigMap, Writers } from './watch-torture/writers.ts';
import { startWitness } from './watch-torture/witness.ts';
import type { Witness } from './watch-torture/witness.ts';

const changes = 10_000;
const seed = Number(process.env['SLIPWAY_TORTURE_SEED'] ?? Date.now() % 2 ** 31);
const namespaces = ['torture-a', 'torture-b', 'torture-c'];
const namespaceKind: Resource = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};

let controlPlane: ControlPlane;
let proxy: FaultProxy;
let client: Client;

beforeAll(async () => {
  controlPlane = await startControlPlane();
  const random = randomFrom(seed);
  proxy = await startFaultProxy(controlPlane.port, {
    random,
    bytes: { least: 2000, most: 8_000_000 },
    delay: { often: 0.02, mostMs: 20 },
  });
  client = createClient(createTransport(await loadKubeconfig([controlPlane.kubeconfig])));
  for (const name of namespaces) await client.create(namespaceKind, { metadata: { name } });
});

afterAll(async () => {
  await proxy.close();
  await client.transport.close();
  await controlPlane.stop();
});

/** A crash of the API server in the middle of everything. */
async function crash(): Promise<void> {
  await controlPlane.killApiServer();
  await controlPlane.startApiServer();
}

/** The watches are cut off, the world goes on without them, and when they come back its history is thrown away. */
async function loseHistory(writers: Writers): Promise<void> {
  proxy.refuse(true);
  const behind = writers.done;
  await vi.waitFor(() => expect(writers.done).toBeGreaterThan(behind + 100), 30_000);
  const etcd = await etcdBelow(controlPlane.pids()['kube-apiserver'] ?? 0);
  await controlPlane.killApiServer();
  // The server that died had old events in memory; the next one has only what etcd has kept.
  await etcd.compact();
  await controlPlane.startApiServer();
  proxy.refuse(false);
}

async function freshList(as: 'full' | 'metadata'): Promise<Map<string, unknown>> {
  const all = new Map<string, unknown>();
  for await (const object of client.list(configMaps)) all.set(keyOf(object), contentOf(object, as));
  return all;
}

function contentOf({ apiVersion, kind, metadata, data }: Stored<ConfigMap>, as: 'full' | 'metadata'): unknown {
  const { managedFields: _, ...kept } = metadata as KubeObject['metadata'] & { managedFields?: unknown };
  return as === 'full' ? { apiVersion, kind, metadata: kept, data } : { apiVersion, kind, metadata: kept };
}

const storeOf = ({ informer }: Witness, as: 'full' | 'metadata'): Map<string, unknown> =>
  new Map([...informer.store.values()].map((object) => [keyOf(object), contentOf(object, as)]));

const sum = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0);

it('a cache ends equal to a fresh list, whatever happens to its watch; nothing is missed, nothing is new twice', async () => {
  const began = performance.now();
  console.log(`watch torture: seed ${seed} (SLIPWAY_TORTURE_SEED=${seed} to repeat)`);
  const direct = await loadKubeconfig([controlPlane.kubeconfig]);
  const through = { ...direct, server: `https://127.0.0.1:${proxy.port}` };
  const witnesses = [
    { as: 'full', witness: startWitness('streamed', through, { expect: 'few' }) },
    { as: 'full', witness: startWitness('listed', through, { expect: 'many' }) },
    { as: 'metadata', witness: startWitness('metadata only', through, { as: 'metadata', expect: 'few' }) },
  ] as const;
  await Promise.all(witnesses.map(({ witness }) => witness.informer.synced));

  const writers = startWriters({ client, random: randomFrom(seed + 1), namespaces, writers: 12, names: 10, changes });
  const done = (part: number): Promise<void> =>
    vi.waitFor(() => expect(writers.done).toBeGreaterThan(changes * part), { timeout: 60_000, interval: 20 });
  await done(0.2);
  await crash();
  await done(0.4);
  await loseHistory(writers);
  await done(0.6);
  proxy.cutAll();
  await done(0.8);
  await loseHistory(writers);
  await writers.finished;
  proxy.calm();

  for (const { as, witness } of witnesses) {
    const fresh = await freshList(as);
    await vi.waitFor(() => expect(storeOf(witness, as)).toEqual(fresh), { timeout: 40_000, interval: 100 });
    expect(new Map([...witness.believed].map(([key, object]) => [key, contentOf(object, as)]))).toEqual(fresh);
    expect(witness.lies).toEqual([]);
    const { missed, checked } = witness.missed(writers.versions);
    expect(missed).toEqual([]);
    expect(checked).toBeGreaterThan(writers.versions.length / 4);
    expect(witness.gone, `${witness.name} was to see 410 Gone`).toBeGreaterThanOrEqual(2);
  }
  const all = witnesses.map(({ witness }) => witness);
  console.log(
    [
      `watch torture: ${writers.done} changes`,
      `${proxy.cuts} cuts`,
      '3 restarts',
      `${sum(all.map(({ gone }) => gone))} times 410 Gone`,
      `${sum(all.map(({ reads }) => reads))} full reads`,
      `${sum(all.map(({ heard }) => heard))} versions heard by 3 informers`,
      `${sum(all.map((witness) => witness.missed(writers.versions).checked))} of them checked one by one`,
      `${((performance.now() - began) / 1000).toFixed(1)} s`,
    ].join(', '),
  );
  for (const { name, problems } of all) console.log(`watch torture: ${name}:`, Object.fromEntries(problems));
  await Promise.all(all.map((witness) => witness.stop()));
}, 240_000);
