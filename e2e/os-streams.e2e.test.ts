// A fleet through the life of an OS: born before there were streams, on streams, part of it moved to the next one, through
// the release that makes that one the default, to the end of the old one. Real control plane, controllers and server as processes,
// real registry with TLS and tokens; real daemons on simulated machines.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  clusterOperators,
  clusterVersions,
  configMaps,
  DEFAULT_NAMESPACE,
  machineConfigPools,
  machineConfigs,
  namespaces,
  nodeAnnotations,
  osImageStreams,
  osStreamAnnotation,
  ROLE_LABEL,
  secrets,
} from '@slipway/api';
import type { MachineConfigPool } from '@slipway/api';
import type { Client } from '@slipway/kube';
import { specWithFile } from '@slipway/testing/builders';
import { until } from '@slipway/testing/wait';
import {
  type Payload,
  pushPayload,
  type RunningRegistry,
  startRegistry,
  type StreamSpec,
} from '@slipway/tools/registry';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Fleet } from './first-boot/fleet.ts';
import { countOut, type RolloutScene, startRolloutScene } from './rollout/rollout-scene.ts';

const rhel9 = (version: string, more: Partial<StreamSpec> = {}): StreamSpec => ({
  tag: 'rhel-coreos',
  name: 'rhel-9',
  version,
  ...more,
});
const rhel10 = (version: string): StreamSpec => ({ tag: 'rhel-coreos-10', name: 'rhel-10', version });

let registry: RunningRegistry;
let scene: RolloutScene;
let before: Payload;

beforeAll(async () => {
  registry = await startRegistry({ auth: 'bearer' });
  before = await pushPayload(registry, { version: '4.20.0', streams: [rhel9('9.4.20250101-0', { unlabelled: true })] });
  scene = await startRolloutScene({ worker: 2, infra: 2 }, (cluster) => withoutStreams(cluster));
}, 180_000);
afterAll(async () => {
  await scene?.stop();
  await registry?.stop();
});

/** As clusters are that do not know of streams: one pair of images for all machines. */
async function withoutStreams(cluster: Fleet): Promise<void> {
  const { client } = cluster;
  const auth = Buffer.from(`${registry.username}:${registry.password}`).toString('base64');
  await client.create(namespaces, { metadata: { name: 'openshift-config' } });
  await client.create(secrets, {
    metadata: { namespace: 'openshift-config', name: 'pull-secret' },
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': btoa(JSON.stringify({ auths: { [registry.host]: { auth } } })) },
  });
  await client.create(configMaps, { metadata: osImages, data: osImagesData(before) });
  await addPool(client, 'infra', ['worker', 'infra']);
  for (const pool of ['worker', 'infra']) {
    await until(async () =>
      expect((await cluster.rendered(pool, [])).spec?.osImageURL).toBe(findOsImage(before, 'rhel-9')),
    );
  }
}

const osImages = { namespace: DEFAULT_NAMESPACE, name: 'machine-config-osimageurl' };

/** The pair that a release names for clusters without streams: that of its first. */
function osImagesData({ os, imageReferences }: Payload): Record<string, string> {
  const [pair] = os.values();
  return {
    baseOSContainerImage: pair?.osImage ?? '',
    baseOSExtensionsContainerImage: pair?.osExtensionsImage ?? '',
    releaseVersion: imageReferences.metadata.name,
    osImageURL: '',
  };
}

async function addPool(client: Client, name: string, roles: readonly string[]): Promise<void> {
  await client.create(machineConfigPools, {
    metadata: { name },
    spec: {
      machineConfigSelector: { matchExpressions: [{ key: ROLE_LABEL, operator: 'In', values: [...roles] }] },
      nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: '' } },
    },
  });
}

const findOsImage = (payload: Payload, stream: string): string => payload.os.get(stream)?.osImage ?? 'none';

/** What the cluster version operator does when an administrator says so. */
async function upgrade(version: string, streams: readonly StreamSpec[]): Promise<Payload> {
  const payload = await pushPayload(registry, { version, streams });
  const { client } = scene;
  await client.patch(configMaps, osImages, { type: 'merge', body: { data: osImagesData(payload) } }, {});
  if ((await client.find(clusterVersions, { name: 'version' })) === undefined) {
    await client.create(clusterVersions, {
      metadata: { name: 'version' },
      spec: { clusterID: '9d2d5b0f-4a0c-4f8e-9d8c-3f1c6a0b7e11' },
    });
  }
  const status = {
    desired: { version, image: payload.releaseImage },
    observedGeneration: 1,
    versionHash: version,
    availableUpdates: [],
  };
  const patch = { type: 'merge', body: { status } } as const;
  await client.patch(clusterVersions, { name: 'version' }, patch, {}, { subresource: 'status' });
  return payload;
}

async function withStreams(): Promise<void> {
  const ca = join(scene.cluster.directory, 'registry-ca.crt');
  await writeFile(ca, registry.ca);
  await scene.cluster.restartControllers('--feature-gates', 'OSStreams=true', '--registry-ca', ca);
}

/** The image that each machine of a pool has booted, by the machine. */
async function booted(pool: string): Promise<Record<string, string>> {
  const names = [...scene.nodes.store.values()]
    .map(({ metadata }) => metadata.name)
    .filter((name) => isInPool(name, pool));
  const entries = names.map(async (name) => [name, await readOsImage(name)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

function isInPool(name: string, pool: string): boolean {
  const { labels = {} } = scene.nodes.store.get(name)?.metadata ?? {};
  const isInfra = labels['node-role.kubernetes.io/infra'] !== undefined;
  return pool === 'infra' ? isInfra : !isInfra && labels[`node-role.kubernetes.io/${pool}`] !== undefined;
}

const readOsImage = async (name: string): Promise<string> => {
  const current = scene.nodes.store.get(name)?.metadata.annotations?.[nodeAnnotations.currentConfig] ?? '';
  return (await scene.client.find(machineConfigs, { name: current }))?.spec?.osImageURL ?? '';
};

/** Every machine runs it, the pool says so, and its owner reads which stream that is. */
async function untilOn(pool: string, stream: string, payload: Payload): Promise<void> {
  await until(async () => {
    const { status, metadata } = await scene.pool(pool);
    expect(status?.osImageStream).toEqual({ name: stream });
    expect(metadata.annotations?.[osStreamAnnotation]).toBe(stream);
    expect(new Set(Object.values(await booted(pool)))).toEqual(new Set([findOsImage(payload, stream)]));
    expect(status?.updatedMachineCount).toBe(status?.machineCount);
  });
}

const findCondition = ({ status }: MachineConfigPool, type: string) =>
  status?.conditions?.find((each) => each.type === type);
const untilCondition = (pool: string, type: string, wanted: object): Promise<void> =>
  until(async () => expect(findCondition(await scene.pool(pool), type)).toMatchObject(wanted));
const untilUpgradeable = (wanted: object): Promise<void> =>
  until(async () => {
    const operator = await scene.client.get(clusterOperators, { name: 'machine-config' });
    expect(operator.status?.conditions?.find(({ type }) => type === 'Upgradeable')).toMatchObject(wanted);
    const version = await scene.client.get(clusterVersions, { name: 'version' });
    const said = version.status?.conditions?.find(({ type }) => type === 'Upgradeable');
    // Nothing but this was ever said there: it need not be said that all is well.
    if (said !== undefined || 'message' in wanted) expect(said).toMatchObject(wanted);
  });

it('machines that were born before streams keep their OS when streams come, and get its newer images', async () => {
  await scene.updated('worker', (await scene.pool('worker')).spec.configuration?.name ?? '', 2);
  expect(new Set(Object.values(await booted('worker')))).toEqual(new Set([findOsImage(before, 'rhel-9')]));
  // The release that knows of streams comes with newer images.
  const payload = await upgrade('4.22.0', [rhel9('9.6.20251201-1'), rhel10('10.1.20251202-0')]);
  await withStreams();
  await until(async () => {
    const { status } = await scene.client.get(osImageStreams, { name: 'cluster' });
    expect(status).toMatchObject({
      defaultStream: 'rhel-9',
      availableStreams: [{ name: 'rhel-10' }, { name: 'rhel-9' }],
    });
  });
  await untilOn('worker', 'rhel-9', payload);
  await untilOn('infra', 'rhel-9', payload);
}, 180_000);

it('a pool whose owner says so goes to another stream, machine by machine, and the others stay', async () => {
  const workers = await booted('worker');
  const out = countOut(scene, 'node-role.kubernetes.io/infra');
  const text = await scene.run('streams', 'migrate', 'infra', 'rhel-10');
  expect(text).toContain('rhel-9 → rhel-10');
  await until(async () =>
    expect((await scene.pool('infra')).metadata.annotations?.[osStreamAnnotation]).toBe('rhel-10'),
  );
  // It is on its way: what every machine runs is still the old one.
  expect((await scene.pool('infra')).status?.osImageStream).toEqual({ name: 'rhel-9' });
  await until(async () => expect((await scene.pool('infra')).status?.osImageStream).toEqual({ name: 'rhel-10' }));
  out.stop();
  expect(out.most()).toBe(1);
  expect(await booted('worker')).toEqual(workers);
  expect(JSON.parse(await scene.run('streams', '-o', 'json'))).toMatchObject({
    streams: [
      { name: 'rhel-10', isDefault: false, pools: ['infra'] },
      { name: 'rhel-9', isDefault: true, pools: ['master', 'worker'] },
    ],
  });
}, 180_000);

it('there is no way back, and none to what does not exist', async () => {
  const requestStream = (name: string) => scene.patchPool('infra', { spec: { osImageStream: { name } } });
  // The API server may take half a minute from its start to find the kind that these policies read.
  const untilRefused = (name: string, words: RegExp): Promise<void> =>
    until(async () => {
      await requestStream('rhel-10');
      await expect(requestStream(name)).rejects.toThrow(words);
    });
  await untilRefused('rhel-9', /infra.*rhel-10.*rhel-9/s);
  await untilRefused('rhel-11', /rhel-11.*rhel-10.*rhel-9/s);
});

it('the release that makes another OS the default changes the OS of no pool; a new pool begins with it, and a new custom pool with the one of worker', async () => {
  const payload = await upgrade('5.0.0', [rhel9('9.8.20260601-0'), rhel10('10.2.20260601-0')]);
  await until(async () =>
    expect((await scene.client.get(osImageStreams, { name: 'cluster' })).status?.defaultStream).toBe('rhel-10'),
  );
  await untilOn('worker', 'rhel-9', payload);
  await untilOn('infra', 'rhel-10', payload);
  await addPool(scene.client, 'arbiter', ['arbiter']);
  await addPool(scene.client, 'gpu', ['worker', 'gpu']);
  const readStream = async (pool: string) => (await scene.pool(pool)).metadata.annotations?.[osStreamAnnotation];
  await until(async () =>
    expect([await readStream('arbiter'), await readStream('gpu')]).toEqual(['rhel-10', 'rhel-9']),
  );
  for (const name of ['arbiter', 'gpu']) await scene.client.delete(machineConfigPools, { name }, {});
}, 180_000);

it('an OS that comes to its end is told, then stops upgrades, then is frozen; moving on clears all of it', async () => {
  const newest = rhel10('10.2.20260601-0');
  const lifecycle = { state: 'deprecated' as const, successor: 'rhel-10', message: 'It ends with 5.3' };
  const deprecated = await upgrade('5.1.0', [rhel9('9.8.20260701-0', { lifecycle }), newest]);
  await untilCondition('worker', 'OSStreamDeprecated', { status: 'True', reason: 'StreamEndOfLife' });
  await untilCondition('infra', 'OSStreamDeprecated', { status: 'False' });
  await untilOn('worker', 'rhel-9', deprecated);

  const blocked = await upgrade('5.2.0', [
    rhel9('9.8.20260801-0', { lifecycle: { ...lifecycle, state: 'blocked' } }),
    newest,
  ]);
  const message = expect.stringMatching(/master.*worker.*rhel-10/s) as string;
  await untilUpgradeable({ status: 'False', reason: 'DeprecatedOSStreamInUse', message });
  await untilOn('worker', 'rhel-9', blocked);

  await upgrade('5.3.0', [newest]);
  await untilCondition('worker', 'OSStreamDeprecated', { status: 'True', reason: 'StreamRemoved' });
  // Frozen is its OS, not its configuration.
  await scene.apply('99-worker-frozen', 'worker', specWithFile('/etc/frozen', 'still configured'));
  await scene.updated('worker', (await scene.pool('worker')).spec.configuration?.name ?? '', 2);
  expect(new Set(Object.values(await booted('worker')))).toEqual(new Set([findOsImage(blocked, 'rhel-9')]));
  await untilUpgradeable({ status: 'False', reason: 'DeprecatedOSStreamInUse' });

  await scene.run('streams', 'migrate', 'worker', 'rhel-10');
  await scene.run('streams', 'migrate', 'master', 'rhel-10');
  await until(async () => expect((await scene.pool('worker')).status?.osImageStream).toEqual({ name: 'rhel-10' }));
  await untilCondition('worker', 'OSStreamDeprecated', { status: 'False', reason: 'AsExpected' });
  await untilUpgradeable({ status: 'True' });
}, 240_000);
