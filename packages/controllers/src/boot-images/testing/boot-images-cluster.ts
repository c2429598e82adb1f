// A cluster with every kind that creates machines, on a real kube-apiserver with an audit log, and the controllers that
// keep its boot images current.
import {
  BOOT_IMAGES_COPY_CONFIG_MAP,
  bootImageHistories,
  clusterApiMachineSetKind,
  clusterApiMachineSets,
  clusterOperators,
  clusterVersions,
  configMaps,
  buildCrd,
  formatCrdName,
  infrastructures,
  type Kind,
  machineConfigPools,
  machineConfigs,
  type MachineConfiguration,
  machineConfigurations,
  machineDeploymentKind,
  machineDeployments,
  machineSets,
  namespaces,
  osImageStreams,
  releasePayloadImageAnnotation,
  secrets,
} from '@slipway/api';
import {
  type MachineManager,
  type ResourceVerdict,
  templateKinds,
  toTemplateResource,
} from '@slipway/fleet/boot-images';
import {
  type Client,
  createClient,
  createMetrics,
  createTransport,
  isKubeError,
  loadKubeconfig,
  type Stored,
  type Transport,
} from '@slipway/kube';
import { type AuditedRequest, isWrite, readSettledAuditLog } from '@slipway/testing/audit';
import { machineConfigPool, renderedConfig } from '@slipway/testing/builders';
import { breakGlass, startTestCluster } from '@slipway/testing/control-plane';
import { createFakeGates, type FakeGates } from '@slipway/testing/gates';
import {
  type CustomResourceDefinition,
  customResourceDefinitions,
  installCrd,
  removeAll,
  removeIfThere,
} from '@slipway/testing/resources';
import { runControllers, type RunningControllers, type RunOptions } from '@slipway/testing/run-controllers';
import { until } from '@slipway/testing/wait';
import { OS_STREAMS_GATE } from '../../feature-gates.ts';
import { upgradeableController } from '../../os-streams/upgradeable-controller.ts';
import { bootImagesControllers } from '../controllers.ts';
import { BOOT_IMAGES_GATE } from '../sources.ts';
import { createVerdictBoard } from '../report-controller.ts';

export const places = {
  ours: 'openshift-machine-config-operator',
  machineApi: 'openshift-machine-api',
  clusterApi: 'openshift-cluster-api',
} as const;
const CONTROLLER_VERSION = '1.2.3';

/** Like a provider's CRD, as far as a cloning client can see: an arbitrary, immutable spec. */
const templateCrd = (kind: string, versions: readonly string[]) => ({
  metadata: {
    name: `${kind.toLowerCase()}s.infrastructure.cluster.x-k8s.io`,
    // A provider names the versions that implement a contract of Cluster API.
    labels: { 'cluster.x-k8s.io/provider': 'infrastructure-test', 'cluster.x-k8s.io/v1beta1': versions.join('_') },
  },
  spec: {
    group: 'infrastructure.cluster.x-k8s.io',
    scope: 'Namespaced',
    names: { kind, plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: versions.map((name, at) => ({
      name,
      served: true,
      storage: at === versions.length - 1,
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              'x-kubernetes-preserve-unknown-fields': true,
              'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'spec cannot be changed' }],
            },
          },
        },
      },
    })),
  },
});

const clusterApiKinds = [clusterApiMachineSetKind, machineDeploymentKind] as const;

/** Fields of infrastructureRef: each version has fields that the other lacks. */
const referenceFields = {
  v1beta1: { optional: ['apiVersion', 'kind', 'name', 'namespace'], required: [] },
  v1beta2: { optional: ['apiGroup', 'kind', 'name'], required: ['apiGroup', 'kind', 'name'] },
} as const;

/** Like Cluster API's own CRD in these versions, as far as the fields are concerned that differ between them. */
const providedCrd = ({ group, kind, plural }: Kind, versions: readonly ('v1beta1' | 'v1beta2')[]) => {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;
  return {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: versions.map((name, at) => {
        const { optional, required } = referenceFields[name];
        const properties = Object.fromEntries(optional.map((field) => [field, { type: 'string' }]));
        const reference = { type: 'object', properties, required };
        const machine = { ...open, properties: { infrastructureRef: reference } };
        const template = { ...open, properties: { spec: machine } };
        const schema = { type: 'object', properties: { spec: { ...open, properties: { template } }, status: open } };
        const columns = { subresources: { status: {} } };
        return { name, served: true, storage: at === 0, schema: { openAPIV3Schema: schema }, ...columns };
      }),
    },
  };
};

const allowMissingKind = (error: unknown): void => {
  if (!isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED')) throw error;
};

/** Deletes the CRDs of Cluster API's machines, and installs these. */
async function replaceClusterApiCrds(client: Client, definitions: readonly CustomResourceDefinition[]): Promise<void> {
  for (const kind of clusterApiKinds) {
    const name = { name: formatCrdName(kind) };
    await removeIfThere(client, customResourceDefinitions, name);
    await until(async () => {
      const found = await client.find(customResourceDefinitions, name);
      if (found !== undefined) throw new Error(`${name.name} is there`);
    });
  }
  await Promise.all(definitions.map((definition) => installCrd(client, definition)));
}

const templateCrds = templateKinds.map(({ kind, versions }) => templateCrd(kind, versions));

export interface ControllerRunOptions extends Pick<RunOptions, 'killAtWrite'> {
  /** Awaited before each request is sent, so that another client can write first. */
  readonly beforeRequest?: (request: { method: string; path: string }) => Promise<void>;
  /** Default: an administrator's credentials. */
  readonly groups?: readonly string[];
  readonly canary?: boolean;
  readonly gate?: boolean;
  /** Whether pools follow their OS image stream. */
  readonly streams?: boolean;
  /**
   * The leader election to use; by default a new one, and writes without a precondition are refused. Null: no election,
   * for tests that set the time of day.
   */
  readonly lease?: string | null;
}

export interface Running extends Omit<RunningControllers, 'writes'>, Pick<FakeGates, 'turn'> {
  readonly user: string;
  /** The latest verdict about a resource, by name. */
  verdict(this: void, name: string): ResourceVerdict | undefined;
  verdicts(this: void): ResourceVerdict[];
  /** How many reconciles ran since the start. */
  looks(this: void, controller: string): Promise<number>;
  /** Their entries of the audit log, once no more arrive. */
  writes(this: void): Promise<AuditedRequest[]>;
}

export interface BootImagesCluster {
  readonly client: Client;
  run(wish?: ControllerRunOptions): Promise<Running>;
  setPlatform(type: string, more?: object): Promise<void>;
  /** null removes it. */
  setGolden(data: Readonly<Record<string, string>> | null, annotations?: Record<string, string>): Promise<void>;
  optIn(managers: readonly MachineManager[], more?: Partial<MachineConfiguration['spec']>): Promise<void>;
  /** Pools whose machines are all updated, so that boot images apply immediately. */
  addPools(): Promise<void>;
  /** The sources of the cluster's release: ClusterVersion, and the ConfigMap with the OS images. */
  setRelease(version: string, osImage: string): Promise<void>;
  /** An OS image stream of the release that ClusterVersion moves to. */
  setStream(name: string, release: string, osImage: string): Promise<void>;
  /** Gives the pool a new config with this OS image; that many of its three machines run it. */
  setPool(name: string, config: string, osImage: string, updatedMachineCount: number): Promise<void>;
  setSecret(namespace: string, name: string, data: Readonly<Record<string, string>> | null): Promise<void>;
  configuration(): Promise<Stored<MachineConfiguration>>;
  kubeconfigFor(this: void, who: { readonly user: string; readonly groups: readonly string[] }): Promise<string>;
  /** Runs it in a cluster that serves only these versions of Cluster API; none: that never had Cluster API. */
  withClusterApi(versions: readonly ('v1beta1' | 'v1beta2')[], work: () => Promise<void>): Promise<void>;
  /** Removes everything but namespaces and kinds. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

const encoded = (data: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));

export async function startBootImagesCluster(): Promise<BootImagesCluster> {
  const { controlPlane, operator: client, stop } = await startTestCluster();
  await Promise.all(templateCrds.map((crd) => installCrd(client, crd)));
  for (const name of [places.machineApi, places.clusterApi]) await client.create(namespaces, { metadata: { name } });
  const golden = { namespace: places.ours, name: 'coreos-bootimages' };
  const osImages = { namespace: places.ours, name: 'machine-config-osimageurl' };
  let runs = 0;

  const cluster: BootImagesCluster = {
    client,
    async run(wish = {}) {
      runs += 1;
      const user = `slipway-boot-images-${runs}`;
      const groups = wish.groups ?? breakGlass.groups;
      const kubeconfig = await controlPlane.kubeconfigFor({ user, groups });
      return run(await loadKubeconfig([kubeconfig]), { ...wish, user, auditLog: controlPlane.auditLog, admin: client });
    },
    async setPlatform(type, more = {}) {
      const name = { name: 'cluster' };
      if ((await client.find(infrastructures, name)) === undefined)
        await client.create(infrastructures, { metadata: name, spec: {} });
      const status = {
        infrastructureName: 'demo-x7k2p',
        platform: type,
        platformStatus: { type, ...more },
        apiServerURL: '',
        apiServerInternalURI: '',
        etcdDiscoveryDomain: '',
      };
      const patch = { type: 'merge', body: { status } } as const;
      await client.patch(infrastructures, name, patch, {}, { subresource: 'status' });
    },
    async setGolden(data, annotations = {}) {
      const found = await client.find(configMaps, golden);
      if (data === null) await removeIfThere(client, configMaps, golden);
      else if (found === undefined) await client.create(configMaps, { metadata: { ...golden, annotations }, data });
      else {
        const gone = Object.keys(found.data ?? {}).filter((key) => !(key in data) && !key.startsWith('MCO'));
        const body = { data: { ...Object.fromEntries(gone.map((key) => [key, null])), ...data } };
        await client.patch(configMaps, golden, { type: 'merge', body }, {});
      }
    },
    async optIn(managers, more = {}) {
      const spec = { ...more, managedBootImages: { machineManagers: [...managers] } };
      const name = { name: 'cluster' };
      if ((await client.find(machineConfigurations, name)) === undefined)
        await client.create(machineConfigurations, { metadata: name, spec });
      else await client.patch(machineConfigurations, name, { type: 'merge', body: { spec } }, {});
    },
    async addPools() {
      for (const name of ['master', 'worker']) {
        await client.create(machineConfigPools, machineConfigPool(name));
        await cluster.setPool(name, `rendered-${name}-1`, '', 3);
      }
    },
    async setRelease(version, osImage) {
      const name = { name: 'version' };
      if ((await client.find(clusterVersions, name)) === undefined)
        await client.create(clusterVersions, { metadata: name, spec: { clusterID: 'test' } });
      const desired = { version, image: `quay.io/release:${version}` };
      const status = { desired, observedGeneration: 1, versionHash: 'x', availableUpdates: [] };
      const patch = { type: 'merge', body: { status } } as const;
      await client.patch(clusterVersions, name, patch, {}, { subresource: 'status' });
      const body = { metadata: osImages, data: { baseOSContainerImage: osImage, releaseVersion: version } };
      await client.apply(configMaps, body, {}, { fieldManager: 'the-release', force: true });
    },
    async setStream(stream, release, osImage) {
      const name = { name: 'cluster' };
      if ((await client.find(osImageStreams, name)) === undefined)
        await client.create(osImageStreams, { metadata: name, spec: { defaultStream: stream } });
      const availableStreams = [{ name: stream, osImage, osExtensionsImage: osImage }];
      const body = { status: { availableStreams, defaultStream: stream } };
      await client.patch(osImageStreams, name, { type: 'merge', body }, {}, { subresource: 'status' });
      const annotations = { [releasePayloadImageAnnotation]: `quay.io/release:${release}` };
      await client.patch(osImageStreams, name, { type: 'merge', body: { metadata: { annotations } } }, {});
    },
    async setPool(name, config, osImageURL, updatedMachineCount) {
      if ((await client.find(machineConfigs, { name: config })) === undefined)
        await client.create(machineConfigs, renderedConfig(config, name, { osImageURL }));
      const configuration = { name: config };
      const body = { spec: { configuration } };
      const { metadata } = await client.patch(machineConfigPools, { name }, { type: 'merge', body }, {});
      const status = {
        machineCount: 3,
        updatedMachineCount,
        readyMachineCount: 3,
        unavailableMachineCount: 0,
        degradedMachineCount: 0,
        configuration,
        observedGeneration: metadata.generation ?? 0,
      };
      const patch = { type: 'merge', body: { status } } as const;
      await client.patch(machineConfigPools, { name }, patch, {}, { subresource: 'status' });
    },
    async setSecret(namespace, name, data) {
      await removeIfThere(client, secrets, { namespace, name });
      if (data !== null)
        await client.create(secrets, { metadata: { namespace, name }, type: 'Opaque', data: encoded(data) });
    },
    kubeconfigFor: ({ user, groups }) => controlPlane.kubeconfigFor({ user, groups: [...groups] }),
    configuration: () => client.get(machineConfigurations, { name: 'cluster' }),
    async withClusterApi(versions, work) {
      const ours = [clusterApiMachineSetKind, machineDeploymentKind].map((kind) => buildCrd(kind));
      await replaceClusterApiCrds(
        client,
        versions.length === 0 ? [] : clusterApiKinds.map((kind) => providedCrd(kind, versions)),
      );
      try {
        await work();
      } finally {
        await removeAll(client, clusterApiMachineSets, machineDeployments).catch(allowMissingKind);
        await replaceClusterApiCrds(client, ours);
      }
    },
    async clear() {
      const templates = templateKinds.map(({ kind, versions }) => toTemplateResource(kind, versions.at(-1) ?? ''));
      await removeAll(
        client,
        machineSets,
        clusterApiMachineSets,
        machineDeployments,
        machineConfigurations,
        machineConfigPools,
        machineConfigs,
        infrastructures,
        clusterOperators,
        clusterVersions,
        osImageStreams,
        bootImageHistories,
        ...templates,
      );
      for (const namespace of [places.machineApi, places.clusterApi])
        for await (const { metadata } of client.list(secrets, { namespace }))
          await removeIfThere(client, secrets, metadata);
      await cluster.setGolden(null);
      await removeIfThere(client, configMaps, { namespace: places.ours, name: BOOT_IMAGES_COPY_CONFIG_MAP });
      await removeIfThere(client, configMaps, osImages);
    },
    stop,
  };
  return cluster;
}

const interfering = (transport: Transport, before: ControllerRunOptions['beforeRequest']): Transport =>
  before === undefined
    ? transport
    : {
        ...transport,
        async json(request) {
          await before(request);
          return transport.json(request);
        },
      };

type Access = Awaited<ReturnType<typeof loadKubeconfig>>;

interface RunPlace {
  readonly user: string;
  readonly auditLog: string;
  /** Renews the lease, which the tests ignore. */
  readonly admin: Client;
}

function run(
  access: Access,
  {
    killAtWrite,
    beforeRequest,
    canary,
    gate = true,
    streams = false,
    lease,
    user,
    auditLog,
    admin,
  }: ControllerRunOptions & RunPlace,
): Running {
  const transport = interfering(createTransport(access), beforeRequest);
  const metrics = createMetrics();
  const board = createVerdictBoard();
  const gates = createFakeGates({ [BOOT_IMAGES_GATE]: gate, [OS_STREAMS_GATE]: streams });
  const controllers = [
    upgradeableController(gates),
    ...bootImagesControllers({
      namespace: places.ours,
      machineApiNamespace: places.machineApi,
      clusterApiNamespace: places.clusterApi,
      controllerVersion: CONTROLLER_VERSION,
      gates,
      metrics,
      canary,
      board,
    }),
  ];
  const election =
    lease === null ? undefined : { client: admin, lease: { namespace: places.ours, name: lease ?? user } };
  const running = runControllers(createClient(transport), controllers, { gates, metrics, election, killAtWrite });
  return {
    ...running,
    user,
    verdict: (name) => [...board.values()].find(({ verdict }) => verdict.resource.name === name)?.verdict,
    verdicts: () => [...board.values()].map(({ verdict }) => verdict),
    async looks(controller) {
      const { values } = await metrics.reconcileSeconds.get();
      const counts = values.filter(
        ({ metricName, labels }) => metricName?.endsWith('_count') === true && labels.controller === controller,
      );
      return counts.reduce((sum, { value }) => sum + value, 0);
    },
    turn: (on) => gates.turn(on, BOOT_IMAGES_GATE),
    writes: async () => (await readSettledAuditLog(auditLog, user)).filter(isWrite),
    async stop() {
      await running.stop();
      await transport.close();
    },
  };
}
