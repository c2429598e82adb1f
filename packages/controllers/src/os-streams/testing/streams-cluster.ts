// A cluster with pools and a registry with payloads, both real, and the controllers that connect them.
import {
  clusterOperators,
  clusterVersions,
  configMaps,
  type MachineConfigPool,
  machineConfigPools,
  machineConfigs,
  namespaces,
  nodes,
  OS_IMAGES_CONFIG_MAP,
  type OSImageStream,
  osImageStreams,
  secrets,
  SINGLETON_NAME,
} from '@slipway/api';
import type { Client, ControllerDef, Gates, Stored } from '@slipway/kube';
import { machineConfig, machineConfigPool, node } from '@slipway/testing/builders';
import { startTestCluster } from '@slipway/testing/control-plane';
import { createFakeGates, type FakeGates } from '@slipway/testing/gates';
import { events, listEvents, removeAll, removeIfThere } from '@slipway/testing/resources';
import { runControllers, type RunningControllers, type RunOptions } from '@slipway/testing/run-controllers';
import { addReadyNode, obeyDesiredConfig } from '@slipway/testing/stand-in-kubelet';
import { type RunningRegistry, startRegistry } from '@slipway/tools/registry';
import { builtInController } from '../../built-in-controller.ts';
import { clusterOperatorController } from '../../cluster-operator-controller.ts';
import { renderController } from '../../render/controller.ts';
import { rolloutController } from '../../rollout/controller.ts';
import type { RetryTimes } from '../options.ts';
import { registryWith } from '../registry.ts';
import { osStreamsControllers } from '../streams-controller.ts';

const NAMESPACE = 'openshift-machine-config-operator';
const CONTROLLER_VERSION = '0.0.0';

/** How the controllers reach the registry; by default directly, with short timeouts. */
export interface RegistryRoute {
  /** A plain http proxy of the registry: all references have its host. */
  readonly through?: (registry: RunningRegistry) => Promise<{ readonly host: string; stop(): Promise<void> }>;
  readonly retries?: number;
  readonly silenceMs?: number;
  /** The retry delay of the controllers. */
  readonly retry?: RetryTimes;
}

export interface ControllerRunOptions extends Pick<RunOptions, 'killAtWrite'> {
  gate?: boolean;
}

export interface Running extends RunningControllers, Pick<FakeGates, 'turn'> {}

export interface StreamsCluster {
  readonly client: Client;
  /** The administrator, whom the admission policies apply to. */
  readonly admin: Client;
  readonly registry: RunningRegistry;
  run(wish?: ControllerRunOptions): Running;
  /** Sets the release of the platform, current or desired. */
  setRelease(image: string, version?: string): Promise<void>;
  /** The cluster's credentials for the registry; by default the right ones. */
  setPassword(password?: string): Promise<void>;
  setConfigMap(data: Record<string, string> | null): Promise<void>;
  streams(): Promise<Stored<OSImageStream> | undefined>;
  addPool(name: string, pool?: Partial<MachineConfigPool['spec']>, annotations?: Record<string, string>): Promise<void>;
  pool(name: string): Promise<Stored<MachineConfigPool>>;
  /** null removes it. */
  askFor(pool: string, stream: string | null): Promise<void>;
  /** The OS image of the pool's newest config, and the stream in its annotation. */
  renderedOs(pool: string): Promise<{ image: string | undefined; stream: string | undefined }>;
  addNode(name: string, role: string, osImage: string): Promise<void>;
  /** Moves machines to their desired config, as daemons do. */
  update(names: readonly string[]): Promise<void>;
  condition(of: 'operator' | 'version', type: string): Promise<{ status: string; message?: string } | undefined>;
  eventsOf(name: string): Promise<string[]>;
  /** Removes pools, configs, streams, release and nodes. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

export async function startStreamsCluster(way: RegistryRoute = {}): Promise<StreamsCluster> {
  const [{ operator: client, admin, stop }, real] = await Promise.all([startTestCluster(), startRegistry()]);
  const before = await way.through?.(real);
  const registry = before === undefined ? real : { ...real, host: before.host };
  await client.create(namespaces, { metadata: { name: 'openshift-config' } });
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
    admin,
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
      const name = { namespace: NAMESPACE, name: OS_IMAGES_CONFIG_MAP };
      await removeIfThere(client, configMaps, name);
      if (data !== null) await client.create(configMaps, { metadata: name, data });
    },
    streams: () => client.find(osImageStreams, { name: SINGLETON_NAME }),
    async addPool(name, spec = {}, annotations = {}) {
      await client.create(machineConfigPools, machineConfigPool(name, spec, annotations));
      if (name === 'worker' || name === 'master') return;
      const config = { ignition: { version: '3.5.0' } };
      await client.create(machineConfigs, machineConfig(`50-${name}`, name, { config }));
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
      const config = (await cluster.pool(role)).spec.configuration?.name;
      const labelled = node(name, { pools: [role], ...(config !== undefined && { config }) });
      await addReadyNode(client, labelled, { osImage });
    },
    async update(names) {
      for (const name of names) await obeyDesiredConfig(client, name);
    },
    async condition(of, type) {
      const object =
        of === 'operator'
          ? await client.find(clusterOperators, { name: 'machine-config' })
          : await client.find(clusterVersions, { name: 'version' });
      return object?.status?.conditions?.find((each) => each.type === type);
    },
    eventsOf: async (name) =>
      (await listEvents(client, { name })).map(({ reason, message }) => `${reason}: ${message}`),
    async clear() {
      await cluster.setConfigMap(null);
      await removeAll(
        client,
        machineConfigPools,
        machineConfigs,
        osImageStreams,
        clusterVersions,
        clusterOperators,
        nodes,
        events,
      );
    },
    async stop() {
      await before?.stop();
      await Promise.all([registry.stop(), stop()]);
    },
  };
  return cluster;
}

function run(
  client: Client,
  controllersWith: (gates: Gates) => ControllerDef[],
  { killAtWrite, gate = true }: ControllerRunOptions = {},
): Running {
  const gates = createFakeGates(gate);
  return { ...runControllers(client, controllersWith(gates), { gates, killAtWrite }), turn: gates.turn };
}

const controllers = (
  { ca, host }: RunningRegistry,
  { through, retries = 0, silenceMs = 3000, retry = { firstMs: 200, mostMs: 500 } }: RegistryRoute,
  gates: Gates,
): ControllerDef[] => [
  builtInController({ controllerVersion: CONTROLLER_VERSION }),
  renderController({ namespace: NAMESPACE, controllerVersion: CONTROLLER_VERSION, gates }),
  rolloutController({ gates }),
  clusterOperatorController({ controllerVersion: CONTROLLER_VERSION, gates, managesHosts: false }),
  ...osStreamsControllers({
    namespace: NAMESPACE,
    controllerVersion: CONTROLLER_VERSION,
    gates,
    registry: registryWith({ ca, retries, silenceMs, ...(through !== undefined && { plainHttp: [host] }) }),
    retry,
    tagIntervalMs: 500,
  }),
];
