// Watches through a network that fails, on an API server that crashes and forgets: as many changes as a test asks for.
import { type ConfigMap, configMaps, namespaces } from '@slipway/api';
import { type Client, keyOf, type KubeObject, loadKubeconfig, type Stored } from '@slipway/kube';
import { connect } from '@slipway/testing/control-plane';
import { createRandom } from '@slipway/testing/random';
import { startTcpFaultProxy, type TcpFaultProxy } from '@slipway/testing/tcp-fault-proxy';
import { until } from '@slipway/testing/wait';
import { type ControlPlane, startControlPlane } from '@slipway/tools/controlplane';
import { afterAll, beforeAll, expect } from 'vitest';
import { etcdBelow } from './etcd.ts';
import { type Witness, startWitness } from './witness.ts';
import { createWriters, type Writers } from './writers.ts';

const seed = Number(process.env['SLIPWAY_TORTURE_SEED'] ?? Date.now() % 2 ** 31);
/** An informer waits up to 30 s before it tries again, and the next try may meet a cut as well. */
const BOUND = { withinMs: 150_000, everyMs: 100 };
/** That the watches miss while they are cut off, each time. */
const LOST_CHANGES = 200;
const places = ['torture-a', 'torture-b', 'torture-c'];

let controlPlane: ControlPlane;
let proxy: TcpFaultProxy;
let client: Client;

/** For the top of a test file. */
export function useTorturedControlPlane(): void {
  beforeAll(async () => {
    controlPlane = await startControlPlane();
    proxy = await startTcpFaultProxy(controlPlane.port, {
      random: createRandom(seed),
      bytes: { least: 5000, most: 16_000_000 },
      lifeMs: { least: 150, most: 6000 },
      delay: { often: 0.02, mostMs: 20 },
    });
    client = await connect(controlPlane.kubeconfig);
    for (const name of places) await client.create(namespaces, { metadata: { name } });
  });

  afterAll(async () => {
    await proxy.close();
    await client.transport.close();
    await controlPlane.stop();
  });
}

/** A crash of the API server in the middle of everything. */
async function crash(): Promise<void> {
  await controlPlane.killApiServer();
  await controlPlane.startApiServer();
}

/** The watches are cut off, the world goes on without them, and when they come back its history is thrown away. */
async function loseHistory(writers: Writers, witnesses: readonly Witness[]): Promise<void> {
  const before = witnesses.map(({ gone }) => gone);
  proxy.setDark(true);
  await writers.run(LOST_CHANGES);
  const etcd = await etcdBelow(controlPlane.pids()['kube-apiserver'] ?? 0);
  await controlPlane.killApiServer();
  // The server that died had old events in memory; the next one has only what etcd has kept.
  await etcd.compact();
  await controlPlane.startApiServer();
  proxy.setDark(false);
  await until(() => {
    for (const [index, { name, gone }] of witnesses.entries()) {
      expect(gone, `${name} was to hear 410 Gone`).toBeGreaterThan(before[index] ?? 0);
    }
  }, BOUND);
}

async function freshList(as: 'full' | 'metadata'): Promise<Map<string, unknown>> {
  const all = new Map<string, unknown>();
  for await (const object of client.list(configMaps)) all.set(keyOf(object), selectContent(object, as));
  return all;
}

function selectContent({ apiVersion, kind, metadata, data }: Stored<ConfigMap>, as: 'full' | 'metadata'): unknown {
  const { managedFields: _, ...kept } = metadata as KubeObject['metadata'] & { managedFields?: unknown };
  return as === 'full' ? { apiVersion, kind, metadata: kept, data } : { apiVersion, kind, metadata: kept };
}

interface Watched {
  as: 'full' | 'metadata';
  witness: Witness;
}

/** The cache, and what a listener made of the changes, are what the server has. Call it while nothing changes. */
async function equalToFreshLists(watched: readonly Watched[]): Promise<void> {
  for (const { as, witness } of watched) {
    const fresh = await freshList(as);
    const contents = (objects: Iterable<Stored<ConfigMap>>): Map<string, unknown> =>
      new Map([...objects].map((object) => [keyOf(object), selectContent(object, as)]));
    const equal = (): void => expect(contents(witness.informer.store.values())).toEqual(fresh);
    await until(equal, BOUND);
    expect(contents(witness.believed.values())).toEqual(fresh);
  }
}

/** Lets the caches come to rest, and has every watch begin anew from there: what follows must be heard one by one. */
async function catchUp(watched: readonly Watched[]): Promise<void> {
  await equalToFreshLists(watched);
  proxy.cutAll();
}

const sum = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Through cuts, crashes and lost history. */
export async function expectCachesToSurvive(changes: number): Promise<void> {
  const began = performance.now();
  console.log(`watch torture: seed ${seed} (SLIPWAY_TORTURE_SEED=${seed} to repeat)`);
  const direct = await loadKubeconfig([controlPlane.kubeconfig]);
  const through = { ...direct, server: `https://127.0.0.1:${proxy.port}` };
  const watched: Watched[] = [
    { as: 'full', witness: startWitness('streamed', through, { expect: 'few' }) },
    { as: 'full', witness: startWitness('listed', through, { expect: 'many' }) },
    { as: 'full', witness: startWitness('multiplexed', through, { expect: 'few', multiplex: true }) },
    {
      as: 'metadata',
      witness: startWitness('metadata only', through, { as: 'metadata', expect: 'few', multiplex: true }),
    },
  ];
  const all = watched.map(({ witness }) => witness);
  await Promise.all(all.map(({ informer }) => informer.synced));

  const writers = createWriters({ client, random: createRandom(seed + 1), namespaces: places, writers: 12, names: 10 });
  await catchUp(watched);
  await writers.run(0.15 * changes);
  await Promise.all([writers.run(0.15 * changes), crash()]);
  await catchUp(watched);
  await writers.run(0.15 * changes);
  await catchUp(watched);
  await loseHistory(writers, all);
  await catchUp(watched);
  await writers.run(0.25 * changes);
  await catchUp(watched);
  await loseHistory(writers, all);
  await catchUp(watched);
  await writers.run(Math.max(0, changes - writers.done));
  proxy.calm();

  await equalToFreshLists(watched);

  for (const { name, lies, missed } of all) {
    expect(lies).toEqual([]);
    const versions = missed(writers.versions);
    expect({ name, missed: versions.missed }).toEqual({ name, missed: [] });
    expect(versions.checked).toBeGreaterThan(writers.versions.length / 4);
  }
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
}
