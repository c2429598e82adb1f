import { machineConfigs, namespaces, refreshAnnotation, roleLabel, secrets } from '@slipway/api';
import type { MachineConfig, MachineConfigPool, Secret } from '@slipway/api';
import {
  loadSnapshot,
  rolloutController,
  remoteContentController,
  type RemoteContentOptions,
  remoteContentLabel,
  renderController,
  type SnapshotState,
  snapshotStateOf,
} from '@slipway/controllers';
import {
  type Client,
  createClient,
  createLog,
  createManager,
  createMetrics,
  createRecorder,
  createTransport,
  isKubeError,
  type KubeObject,
  loadKubeconfig,
  type Resource,
  type Stored,
  type WriteGuard,
} from '@slipway/kube';
import type { ControlPlane } from '@slipway/tools/controlplane';
import { expect, vi } from 'vitest';
import { startInstalledControlPlane } from '../installed-control-plane.ts';
import { operator } from '../operator.ts';

export const namespace = 'remote-content';
export interface ApiEvent extends KubeObject {
  reason: string;
  message: string;
}
const apiEvents: Resource<ApiEvent> = { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true };

const patience = { timeout: 20_000, interval: 50 };
export const until = <T>(ask: () => Promise<T> | T): Promise<T> => vi.waitFor(ask, patience);

/** A running controller. */
export interface Running {
  /** Everything it has logged. */
  log(): string;
  stop(): Promise<void>;
}

export interface Options extends Partial<RemoteContentOptions> {
  /** Asked before each of the controller's writes. */
  guard?: WriteGuard;
  /** Render the pool as well, and write its status. */
  render?: boolean;
}

/** Of every MachineConfig here; no built-in one has it, so that a pool needs nothing else. */
const role = 'remote';

export const pool: MachineConfigPool = {
  metadata: { name: role },
  spec: { machineConfigSelector: { matchLabels: { [roleLabel]: role } } },
};

/** A control plane of its own: MachineConfigs are the cluster's, and a controller tends all of them. */
export interface Cluster {
  controlPlane: ControlPlane;
  client: Client;
  run(options?: Options): Running;
  create(name: string, config: object, annotations?: Record<string, string>): Promise<void>;
  edit(name: string, config: object): Promise<void>;
  /** Another value asks for another fetch; null takes the wish back. */
  refresh(name: string, value: string | null): Promise<void>;
  get(name: string): Promise<Stored<MachineConfig>>;
  index(name: string): Promise<Stored<Secret> | undefined>;
  state(name: string): Promise<SnapshotState>;
  untilState<S extends SnapshotState['state']>(name: string, state: S): Promise<SnapshotState & { state: S }>;
  /** The contents of the files in the stored config, by path; it has nothing remote. */
  load(name: string): Promise<Record<string, string | undefined>>;
  secretNames(kind: 'index' | 'chunk'): Promise<string[]>;
  events(name: string): Promise<ApiEvent[]>;
  /** Of its events. */
  reasons(name: string): Promise<string[]>;
  stop(): Promise<void>;
}

export async function startCluster(): Promise<Cluster> {
  const controlPlane = await startInstalledControlPlane();
  const client = createClient(createTransport(await loadKubeconfig([await controlPlane.kubeconfigFor(operator)])));
  await client.create(namespaces, { metadata: { name: namespace } });
  const cluster: Cluster = {
    controlPlane,
    client,
    run: (options) => run(client, options),
    async create(name, config, annotations = {}) {
      await client.create(machineConfigs, {
        metadata: { name, annotations, labels: { [roleLabel]: role } },
        spec: { config: { ...config } },
      });
    },
    async edit(name, config) {
      const body = [{ op: 'replace', path: '/spec/config', value: config }];
      await client.patch(machineConfigs, { name }, { type: 'json', body }, {});
    },
    async refresh(name, value) {
      const body = { metadata: { annotations: { [refreshAnnotation]: value } } };
      await client.patch(machineConfigs, { name }, { type: 'merge', body }, {});
    },
    get: (name) => client.get(machineConfigs, { name }),
    async index(name) {
      const { metadata } = await cluster.get(name);
      return client.find(secrets, { namespace, name: `remote-content-${metadata.uid}` });
    },
    state: async (name) => snapshotStateOf(await cluster.get(name), await cluster.index(name)),
    untilState: <S extends SnapshotState['state']>(name: string, wanted: S) =>
      until(async () => {
        const state = await cluster.state(name);
        if (isIn(state, wanted)) return state;
        throw new Error(`MachineConfig ${name} should be ${wanted}, but is ${JSON.stringify(state)}`);
      }),
    async load(name) {
      const state = await cluster.untilState(name, 'ready');
      const loaded = await loadSnapshot(client, namespace, state);
      if (!loaded.ok) throw new Error(loaded.message);
      return contentsIn(loaded.config);
    },
    async secretNames(kind) {
      const names: string[] = [];
      const labelSelector = `${remoteContentLabel}=${kind}`;
      for await (const { metadata } of client.list(secrets, { namespace, labelSelector })) names.push(metadata.name);
      return names;
    },
    async events(name) {
      const { metadata } = await cluster.get(name);
      const found: ApiEvent[] = [];
      const fieldSelector = `involvedObject.uid=${metadata.uid}`;
      for await (const event of client.list(apiEvents, { namespace: 'default', fieldSelector })) found.push(event);
      return found;
    },
    reasons: async (name) => (await cluster.events(name)).map(({ reason }) => reason),
    async stop() {
      await client.transport.close();
      await controlPlane.stop();
    },
  };
  return cluster;
}

function isIn<S extends SnapshotState['state']>(
  state: SnapshotState,
  wanted: S,
): state is SnapshotState & { state: S } {
  return state.state === wanted;
}

interface StoredConfig {
  storage?: { files?: { path: string; contents?: { source?: string } }[] };
}

function contentsIn(config: unknown): Record<string, string | undefined> {
  expect(JSON.stringify(config)).not.toMatch(/"source":"(?!data:)/);
  const files = (config as StoredConfig).storage?.files ?? [];
  return Object.fromEntries(files.map(({ path, contents }) => [path, contents?.source]));
}

function run(client: Client, { guard = () => undefined, render = false, ...options }: Options = {}): Running {
  const lines: string[] = [];
  const log = createLog({ level: 'debug', pretty: false, write: (line) => lines.push(line) });
  const metrics = createMetrics();
  const manager = createManager({
    client: client.guarded(guard),
    controllers: [
      remoteContentController({ namespace, hosts: { allowAddresses: ['127.0.0.0/8'] }, ...options }),
      ...(render ? [renderController({ namespace, controllerVersion: '0.0.0' }), rolloutController()] : []),
    ],
    events: createRecorder(client, { component: 'slipway-test', log }),
    log,
    metrics,
    stopBoundMs: 0,
  });
  manager.start();
  return { log: () => lines.join(''), stop: () => manager.stop() };
}

/** With all MachineConfigs gone, nothing of ours may be left. */
export async function untilClean(cluster: Cluster): Promise<void> {
  const { client } = cluster;
  for await (const { metadata } of client.list(machineConfigs)) {
    await client.delete(machineConfigs, metadata, { uid: metadata.uid }).catch((error: unknown) => {
      if (!isKubeError(error, 'SLW_KUBE_NOT_FOUND')) throw error;
    });
  }
  await until(async () => {
    expect({ index: await cluster.secretNames('index'), chunk: await cluster.secretNames('chunk') }).toEqual({
      index: [],
      chunk: [],
    });
  });
}
