// A fleet through the life of an OS: born before there were streams, on streams, part of it moved to the next one, through
// the release that makes that one the default, to the end of the old one. Real control plane, controllers and server as processes,
// real registry with TLS and tokens; real daemons on simulated machines.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
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
import { isEqual } from '@slipway/base/equal';
import type { Host } from '@slipway/daemon';
import {
  makeStandInMachine,
  openStandInHost,
  type StandInMachine,
  type StandInOptions,
} from '@slipway/daemon/testing/stand-in-host';
import type { Client } from '@slipway/kube';
import { machineConfig, type MachineConfigSpec, specWithFile } from '@slipway/testing/builders';
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
/** The first release with streams. */
let current: Payload;

beforeAll(async () => {
  registry = await startRegistry({ auth: 'bearer' });
  before = await pushPayload(registry, { version: '4.20.0', streams: [rhel9('9.4.20250101-0', { unlabelled: true })] });
  offerImages(before);
  scene = await startRolloutScene({ worker: 2, infra: 2 }, { prepare: withoutStreams, wrapHost: withStandIn });
}, 180_000);
afterAll(async () => {
  await scene?.stop();
  await registry?.stop();
  await Promise.all(directories.map((directory) => rm(directory, { recursive: true })));
});

// The machines of infra have FIPS, the realtime kernel and an extension. Their OS is changed by the real adapters.

const realtime: MachineConfigSpec = {
  config: { ignition: { version: '3.5.0' } },
  fips: true,
  kernelType: 'realtime',
  extensions: ['usbguard'],
};
const PACKAGES = ['kernel-rt-core', 'kernel-rt-modules', 'kernel-rt-modules-extra', 'usbguard'];
const TOOLS = { 'infra-0': ['rpm-ostree', 'podman'], 'infra-1': ['rpm-ostree', 'bootc', 'podman'] } as const;

/** The machines by their name, and how often each has rebooted. */
const standIns = new Map<string, { readonly machine: StandInMachine; reboots: number }>();
const images: Record<string, StandInOptions['registry'][string]> = {};
const directories: string[] = [];

/** What a registry has for the OS tools. */
function offerImages({ os }: Payload): void {
  for (const [stream, { osImage, osExtensionsImage = '' }] of os) {
    const version = stream === 'rhel-10' ? '10.1' : '9.6';
    images[osImage] = { bootable: true, version };
    images[osExtensionsImage] = { bootable: false, version, packages: PACKAGES };
  }
  for (const { machine } of standIns.values()) machine.change({ registry: images });
}

async function withStandIn({ name, root }: { name: string; root: string }, simulated: Host): Promise<Host> {
  if (name !== 'infra-0' && name !== 'infra-1') return simulated;
  const standIn = standIns.get(name) ?? { machine: await makeStandIn(TOOLS[name], root, simulated), reboots: 0 };
  standIns.set(name, standIn);
  const host = await openStandInHost(standIn.machine, simulated);
  return {
    ...host,
    async reboot(why) {
      standIn.reboots += 1;
      await host.reboot(why);
    },
  };
}

/** With the OS that its first boot left. */
async function makeStandIn(
  programs: StandInOptions['programs'],
  root: string,
  simulated: Host,
): Promise<StandInMachine> {
  const directory = await mkdtemp(join(tmpdir(), 'slipway-os-'));
  directories.push(directory);
  const { image, kernelArguments } = (await simulated.os.state()).booted;
  const machine = await makeStandInMachine(directory, {
    root,
    programs,
    image,
    kernelArguments: [...kernelArguments, 'fips=1'],
    registry: images,
    osRelease: 'NAME="Red Hat Enterprise Linux CoreOS"\nID=rhcos\nVARIANT_ID=coreos\nRHEL_VERSION=9.6\n',
    called: 'as functions',
  });
  const { os } = await openStandInHost(machine, simulated);
  await os.stage({
    extensions: { before: [], after: ['usbguard'] },
    kernelType: { before: 'default', after: 'realtime' },
    extensionsImage: before.os.get('rhel-9')?.osExtensionsImage ?? '',
  });
  machine.boot();
  return machine;
}

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
  await client.create(machineConfigs, machineConfig('99-infra-realtime', 'infra', realtime));
  await addPool(client, 'infra', ['worker', 'infra']);
  await cluster.rendered('infra', ['99-infra-realtime']);
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
  offerImages(payload);
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
  current = payload;
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

it('a pool whose owner says so goes to another stream with FIPS, kernel and extensions, machine by machine in one reboot each, and the others stay', async () => {
  const workers = await booted('worker');
  const out = countOut(scene, 'node-role.kubernetes.io/infra');
  expect([...standIns.keys()].toSorted()).toEqual(['infra-0', 'infra-1']);
  for (const standIn of standIns.values()) {
    standIn.machine.change({ calls: [] });
    standIn.reboots = 0;
  }
  const { osImage, osExtensionsImage } = current.os.get('rhel-10') ?? {};
  const timeout = 'Error: dial tcp 10.0.0.9:443: i/o timeout';
  standIns.get('infra-0')?.machine.fail({ call: `podman pull ${osImage}`, stderr: timeout });
  const text = await scene.run('streams', 'migrate', 'infra', 'rhel-10');
  expect(text).toContain('rhel-9 → rhel-10');
  await until(async () =>
    expect((await scene.pool('infra')).metadata.annotations?.[osStreamAnnotation]).toBe('rhel-10'),
  );
  // It is on its way: what every machine runs is still the old one.
  expect((await scene.pool('infra')).status?.osImageStream).toEqual({ name: 'rhel-9' });
  await until(
    async () => expect((await scene.pool('infra')).status?.osImageStream).toEqual({ name: 'rhel-10' }),
    'rollout',
  );
  out.stop();
  expect(out.most()).toBe(1);
  expect(await booted('worker')).toEqual(workers);
  expect(JSON.parse(await scene.run('streams', '-o', 'json'))).toMatchObject({
    streams: [
      { name: 'rhel-10', isDefault: false, pools: ['infra'] },
      { name: 'rhel-9', isDefault: true, pools: ['master', 'worker'] },
    ],
  });
  const kernel = 'kernel kernel-core kernel-modules kernel-modules-core kernel-modules-extra';
  for (const [name, { machine, reboots }] of standIns) {
    const { booted: os, staged, calls } = machine.state();
    expect({ name, staged, reboots, ...os }).toMatchObject({
      name,
      staged: null,
      reboots: 1,
      reference: `ostree-unverified-image:containers-storage:${osImage}`,
      version: '10.1',
      packages: expect.toSatisfy((packages: string[]) => isEqual(packages.toSorted(), PACKAGES)),
      kernelArguments: expect.arrayContaining(['fips=1']),
    });
    const pull = `podman pull ${osImage}`;
    expect(
      calls.filter((call) => /^(podman (pull|create)|bootc switch|rpm-ostree (rebase|override|update))/.test(call)),
    ).toEqual([
      ...(name === 'infra-0' ? [pull, pull] : [pull]),
      `podman pull ${osExtensionsImage}`,
      `podman create --net=none --name slipway-extensions ${osExtensionsImage}`,
      `rpm-ostree override reset ${kernel} --uninstall kernel-rt-core --uninstall kernel-rt-modules --uninstall kernel-rt-modules-extra`,
      `rpm-ostree rebase --experimental ostree-unverified-image:containers-storage:${osImage}`,
      `rpm-ostree override remove ${kernel} --install kernel-rt-core --install kernel-rt-modules --install kernel-rt-modules-extra`,
    ]);
  }
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
  await expect(scene.run('rollback', 'infra')).rejects.toThrow(/SLW_ROLLOUT_OS_DOWNGRADE/);
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
