import { type MachineConfig, machineConfigs, namespaces, refreshAnnotation, type Secret, secrets } from '@slipway/api';
import {
  remoteContentController,
  type RemoteContentOptions,
  renderController,
  rolloutController,
} from '@slipway/controllers';
import {
  loadSnapshot,
  REMOTE_CONTENT_LABEL,
  type SnapshotState,
  readSnapshotState,
} from '@slipway/fleet/remote-content';
import type { Client, Stored, WriteGuard } from '@slipway/kube';
import { machineConfig, machineConfigPool } from '@slipway/testing/builders';
import { startTestCluster } from '@slipway/testing/control-plane';
import { type ApiEvent, listEvents, removeAll } from '@slipway/testing/resources';
import { runControllers, type RunningControllers } from '@slipway/testing/run-controllers';
import { until } from '@slipway/testing/wait';
import type { ControlPlane } from '@slipway/tools/controlplane';
import { expect } from 'vitest';

export const NAMESPACE = 'remote-content';

export interface Options extends Partial<RemoteContentOptions> {
  /** Asked before each of the controller's writes. */
  guard?: WriteGuard;
  /** Render the pool as well, and write its status. */
  render?: boolean;
}

/** Of every MachineConfig here; no built-in one has it, so that a pool needs nothing else. */
const ROLE = 'remote';

export const pool = machineConfigPool(ROLE);

/** A control plane of its own: MachineConfigs are the cluster's, and a controller tends all of them. */
export interface Cluster {
  controlPlane: ControlPlane;
  client: Client;
  run(options?: Options): RunningControllers;
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
  const { controlPlane, operator: client, stop } = await startTestCluster();
  await client.create(namespaces, { metadata: { name: NAMESPACE } });
  const cluster: Cluster = {
    controlPlane,
    client,
    run: (options) => run(client, options),
    async create(name, config, annotations = {}) {
      await client.create(machineConfigs, machineConfig(name, ROLE, { config: { ...config } }, annotations));
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
      return client.find(secrets, { namespace: NAMESPACE, name: `remote-content-${metadata.uid}` });
    },
    state: async (name) => readSnapshotState(await cluster.get(name), await cluster.index(name)),
    untilState: <S extends SnapshotState['state']>(name: string, wanted: S) =>
      until(async () => {
        const state = await cluster.state(name);
        if (isIn(state, wanted)) return state;
        throw new Error(`MachineConfig ${name} should be ${wanted}, but is ${JSON.stringify(state)}`);
      }),
    async load(name) {
      const state = await cluster.untilState(name, 'ready');
      const loaded = await loadSnapshot(client, NAMESPACE, state);
      if (!loaded.ok) throw new Error(loaded.message);
      return contentsIn(loaded.config);
    },
    async secretNames(kind) {
      const labelSelector = `${REMOTE_CONTENT_LABEL}=${kind}`;
      const found = await Array.fromAsync(client.list(secrets, { namespace: NAMESPACE, labelSelector }));
      return found.map(({ metadata }) => metadata.name);
    },
    events: async (name) => listEvents(client, { name, uid: (await cluster.get(name)).metadata.uid }),
    reasons: async (name) => (await cluster.events(name)).map(({ reason }) => reason),
    stop,
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

function run(client: Client, { guard, render = false, ...options }: Options = {}): RunningControllers {
  const controllers = [
    remoteContentController({ namespace: NAMESPACE, hosts: { allowAddresses: ['127.0.0.0/8'] }, ...options }),
    ...(render ? [renderController({ namespace: NAMESPACE, controllerVersion: '0.0.0' }), rolloutController()] : []),
  ];
  return runControllers(client, controllers, { guard });
}

/** With all MachineConfigs gone, nothing of ours may be left. */
export async function untilClean(cluster: Cluster): Promise<void> {
  await removeAll(cluster.client, machineConfigs);
  await until(async () => {
    expect({ index: await cluster.secretNames('index'), chunk: await cluster.secretNames('chunk') }).toEqual({
      index: [],
      chunk: [],
    });
  });
}
