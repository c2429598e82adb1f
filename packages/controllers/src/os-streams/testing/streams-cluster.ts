// A cluster with pools and a registry with payloads, both real, and the controllers that bring OS images from one to the other.
import {
  clusterOperatorKind,
  clusterOperators,
  clusterVersionKind,
  clusterVersions,
  configMaps,
  crdOf,
  type Kind,
  machineConfigKind,
  type MachineConfigPool,
  machineConfigPoolKind,
  machineConfigPools,
  machineConfigs,
  machineConfigurationKind,
  namespaces,
  nodeAnnotations,
  nodes,
  type OSImageStream,
  osImageStreamKind,
  osImageStreams,
  secrets,
} from '@slipway/api';
import {
  type Client,
  type ControllerDef,
  createClient,
  createLog,
  createManager,
  createMetrics,
  createRecorder,
  createTransport,
  type Gates,
  type KubeObject,
  loadKubeconfig,
  type Resource,
  type Stored,
  type WriteAttempt,
} from '@slipway/kube';
import { borrowControlPlane } from '@slipway/tools/controlplane';
import { type RunningRegistry, startRegistry } from '@slipway/tools/registry';
import { vi } from 'vitest';
import { builtInController } from '../../built-in-controller.ts';
import { renderController } from '../../render/controller.ts';
import { rolloutController } from '../../rollout/controller.ts';
import { osStreamsControllers } from '../controllers.ts';
import type { RetryTimes } from '../pool-streams-controller.ts';
import { registryWith } from '../read-sources.ts';

const namespace = 'openshift-machine-config-operator';
const controllerVersion = '0.0.0';
const patience = { timeout: 20_000, interval: 50 };
export const until = <T>(ask: () => Promise<T> | T): Promise<T> => vi.waitFor(ask, patience);

interface SeenEvent extends KubeObject {
  reason: string;
  message: string;
}
const events: Resource<SeenEvent> = { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true };
interface Crd extends KubeObject {
  status?: { conditions?: { type: string; status: string }[] };
}
const crds: Resource<Crd> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

/** How the controllers come to the registry; as they are, straight and with a short patience. */
export interface WayToRegistry {
  /** Stands before the registry, in plain http: all references have its host. */
  readonly through?: (registry: RunningRegistry) => Promise<{ readonly host: string; stop(): Promise<void> }>;
  readonly retries?: number;
  readonly silenceMs?: number;
  /** After how long the controllers come back to what failed. */
  readonly retry?: RetryTimes;
}

export interface RunWish {
  /** None of their writes leaves from the first one on that this describes, as if the process had been killed. */
  dieBefore?: string;
  gate?: boolean;
}

export interface Running {
  /** What they wrote so far: `patch OSImageStream cluster`. */
  writes: readonly string[];
  log(this: void): string;
  turn(this: void, on: boolean): void;
  stop(): Promise<void>;
}

export interface StreamsCluster {
  readonly client: Client;
  readonly registry: RunningRegistry;
  run(wish?: RunWish): Running;
  /** The platform is, or is to become, of this release. */
  setRelease(image: string, version?: string): Promise<void>;
  /** The cluster's login for the registry; without one, the right one. */
  setPassword(password?: string): Promise<void>;
  setConfigMap(data: Record<string, string> | null): Promise<void>;
  streams(): Promise<Stored<OSImageStream> | undefined>;
  addPool(name: string, pool?: Partial<MachineConfigPool['spec']>, annotations?: Record<string, string>): Promise<void>;
  pool(name: string): Promise<Stored<MachineConfigPool>>;
  /** null takes it back. */
  askFor(pool: string, stream: string | null): Promise<void>;
  /** The OS image that the newest config of the pool has, and the stream that it says it is of. */
  renderedOs(pool: string): Promise<{ image: string | undefined; stream: string | undefined }>;
  addNode(name: string, role: string, osImage: string): Promise<void>;
  /** As daemons do: machines become what they are told. */
  update(names: readonly string[]): Promise<void>;
  condition(of: 'operator' | 'version', type: string): Promise<{ status: string; message?: string } | undefined>;
  eventsOf(name: string): Promise<string[]>;
  /** Without pools, configs, streams, release and nodes. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

const ours = [machineConfigKind, machineConfigPoolKind, machineConfigurationKind, osImageStreamKind];
const platform = [clusterOperatorKind, clusterVersionKind];

async function installCrd(client: Client, kind: Kind): Promise<void> {
  const crd = await client.create(crds, crdOf(kind), { fieldManager: 'slipway-install' });
  await until(async () => {
    const { status } = await client.get(crds, crd.metadata);
    if (status?.conditions?.some((each) => each.type === 'Established' && each.status === 'True') !== true)
      throw new Error(`${crd.metadata.name} is not served`);
  });
}

async function all<T>(list: AsyncGenerator<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of list) found.push(each);
  return found;
}

const roleLabel = 'machineconfiguration.openshift.io/role';

export async function startStreamsCluster(way: WayToRegistry = {}): Promise<StreamsCluster> {
  const [controlPlane, real] = await Promise.all([borrowControlPlane(), startRegistry()]);
  const before = await way.through?.(real);
  const registry = before === undefined ? real : { ...real, host: before.host };
  const client = createClient(createTransport(await loadKubeconfig([controlPlane.kubeconfig])));
  await Promise.all([...ours, ...platform].map((kind) => installCrd(client, kind)));
  for (const name of [namespace, 'openshift-config']) await client.create(namespaces, { metadata: { name } });
  const pullSecret = { namespace: 'openshift-config', name: 'pull-secret' };
  const loginWith = (password: string) => {
    const auth = btoa(`${registry.username}:${password}`);
    return { '.dockerconfigjson': btoa(JSON.stringify({ auths: { [registry.host]: { auth } } })) };
  };
  await client.create(secrets, {
    metadata: pullSecret,
    type: 'kubernetes.io/dockerconfigjson',
    data: loginWith(registry.password),
  });

  const cluster: StreamsCluster = {
    client,
    registry,
    run: (wish) => run(client, (gates) => controllers(registry, way, gates), wish),
    async setRelease(image, version = '4.22.0') {
      if ((await client.find(clusterVersions, { name: 'version' })) === undefined)
        await client.create(clusterVersions, { metadata: { name: 'version' }, spec: { clusterID: 'test' } });
      const status = {
        desired: { version, image },
        observedGeneration: 1,
        versionHash: 'x',
        availableUpdates: [],
      };
      const patch = { type: 'merge', body: { status } } as const;
      await client.patch(clusterVersions, { name: 'version' }, patch, {}, { subresource: 'status' });
    },
    async setPassword(password = registry.password) {
      await client.patch(secrets, pullSecret, { type: 'merge', body: { data: loginWith(password) } }, {});
    },
    async setConfigMap(data) {
      const name = { namespace, name: 'machine-config-osimageurl' };
      const found = await client.find(configMaps, name);
      if (found !== undefined) await client.delete(configMaps, name, {});
      if (data !== null) await client.create(configMaps, { metadata: name, data });
    },
    streams: () => client.find(osImageStreams, { name: 'cluster' }),
    async addPool(name, spec = {}, annotations = {}) {
      await client.create(machineConfigPools, {
        metadata: { name, annotations },
        spec: {
          machineConfigSelector: { matchLabels: { [roleLabel]: name } },
          nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: '' } },
          ...spec,
        },
      });
      if (name === 'worker' || name === 'master') return;
      const config = { ignition: { version: '3.5.0' } };
      await client.create(machineConfigs, {
        metadata: { name: `50-${name}`, labels: { [roleLabel]: name } },
        spec: { config },
      });
    },
    pool: (name) => client.get(machineConfigPools, { name }),
    async askFor(pool, stream) {
      const body = { spec: { osImageStream: stream === null ? null : { name: stream } } };
      await client.patch(machineConfigPools, { name: pool }, { type: 'merge', body }, {});
    },
    async renderedOs(pool) {
      const name = (await cluster.pool(pool)).spec.configuration?.name;
      if (name === undefined) return { image: undefined, stream: undefined };
      const { metadata, spec } = await client.get(machineConfigs, { name });
      return { image: spec?.osImageURL, stream: metadata.annotations?.['slipway.dev/os-image-stream'] };
    },
    async addNode(name, role, osImage) {
      const config = (await cluster.pool(role)).spec.configuration?.name ?? '';
      const { currentConfig, desiredConfig, state } = nodeAnnotations;
      const annotations = config === '' ? {} : { [currentConfig]: config, [desiredConfig]: config, [state]: 'Done' };
      const labels = { [`node-role.kubernetes.io/${role}`]: '' };
      await client.create(nodes, { metadata: { name, labels, annotations } });
      const nodeInfo = {
        osImage,
        architecture: 'amd64',
        bootID: '',
        containerRuntimeVersion: '',
        kernelVersion: '',
        kubeProxyVersion: '',
        kubeletVersion: '',
        machineID: '',
        operatingSystem: 'linux',
        systemUUID: '',
      };
      const status = { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo };
      await client.patch(nodes, { name }, { type: 'merge', body: { status } }, {}, { subresource: 'status' });
    },
    async update(names) {
      for (const name of names) {
        const { metadata } = await client.get(nodes, { name });
        const config = metadata.annotations?.[nodeAnnotations.desiredConfig] ?? '';
        const annotations = { [nodeAnnotations.currentConfig]: config, [nodeAnnotations.state]: 'Done' };
        await client.patch(nodes, { name }, { type: 'merge', body: { metadata: { annotations } } }, {});
      }
    },
    async condition(of, type) {
      const object =
        of === 'operator'
          ? await client.find(clusterOperators, { name: 'machine-config' })
          : await client.find(clusterVersions, { name: 'version' });
      return object?.status?.conditions?.find((each) => each.type === type);
    },
    async eventsOf(name) {
      const found = await all(
        client.list(events, { namespace: 'default', fieldSelector: `involvedObject.name=${name}` }),
      );
      return found.map(({ reason, message }) => `${reason}: ${message}`);
    },
    async clear() {
      await cluster.setConfigMap(null);
      for (const resource of [
        machineConfigPools,
        machineConfigs,
        osImageStreams,
        clusterVersions,
        clusterOperators,
        nodes,
      ])
        for (const { metadata } of await all(client.list<KubeObject>(resource)))
          await client.delete(resource, metadata, {});
      for (const { metadata } of await all(client.list(events, { namespace: 'default' })))
        await client.delete(events, metadata, {});
    },
    async stop() {
      await client.transport.close();
      await before?.stop();
      await registry.stop();
      await controlPlane.stop();
    },
  };
  return cluster;
}

function run(
  client: Client,
  controllersWith: (gates: Gates) => ControllerDef[],
  { dieBefore, gate = true }: RunWish = {},
): Running {
  const lines: string[] = [];
  const writes: string[] = [];
  const allowed = new Set<WriteAttempt>();
  const listeners = new Set<() => void>();
  let isOn = gate;
  let isDead = false;
  const gates: Gates = {
    isOn: () => isOn,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const log = createLog({ level: 'debug', pretty: false, write: (line) => lines.push(line) });
  const manager = createManager({
    client: client.guarded((attempt) => {
      if (allowed.has(attempt)) return;
      const part = attempt.subresource === undefined ? '' : `/${attempt.subresource}`;
      const write = `${attempt.verb} ${attempt.resource.kind}${part} ${attempt.name.name}`;
      isDead ||= write === dieBefore;
      if (isDead) throw new Error('the process is dead');
      allowed.add(attempt);
      writes.push(write);
    }),
    controllers: controllersWith(gates),
    events: createRecorder(client, { component: 'slipway-test', log }),
    log,
    metrics: createMetrics(),
    gates,
    stopBoundMs: 0,
  });
  manager.start();
  return {
    writes,
    log: () => lines.join(''),
    turn(on) {
      isOn = on;
      for (const listener of listeners) listener();
    },
    stop: () => manager.stop(),
  };
}

const controllers = (
  { ca, host }: RunningRegistry,
  { through, retries = 0, silenceMs = 3000, retry = { firstMs: 200, mostMs: 500 } }: WayToRegistry,
  gates: Gates,
): ControllerDef[] => [
  builtInController({ controllerVersion }),
  renderController({ namespace, controllerVersion, gates }),
  rolloutController({ gates }),
  ...osStreamsControllers({
    namespace,
    controllerVersion,
    gates,
    registry: registryWith({ ca, retries, silenceMs, ...(through !== undefined && { plainHttp: [host] }) }),
    retry,
  }),
];
