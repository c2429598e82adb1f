import { randomBytes } from 'node:crypto';
import { machineConfigPools, namespaces, secrets } from '@slipway/api';
import type { Secret } from '@slipway/api';
import { certificatesController, type FirstBootSettings, provisioningControllers } from '@slipway/controllers';
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
  type WriteAttempt,
} from '@slipway/kube';
import type { ControlPlane } from '@slipway/tools/controlplane';
import { vi } from 'vitest';
import { startInstalledControlPlane } from '../installed-control-plane.ts';
import { operator } from '../operator.ts';

export interface ApiEvent extends KubeObject {
  type: string;
  reason: string;
  message: string;
  count: number;
}
const apiEvents: Resource<ApiEvent> = { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true };

export const until = <T>(ask: () => Promise<T> | T): Promise<T> => vi.waitFor(ask, { timeout: 20_000, interval: 25 });

/** A control plane of its own: pools and Infrastructure are the cluster's, and the controllers tend all of them. */
export interface Cluster {
  controlPlane: ControlPlane;
  client: Client;
  /** Fresh namespaces, pool and controllers for one test. */
  scene(): Promise<Scene>;
  stop(): Promise<void>;
}

export async function startCluster(): Promise<Cluster> {
  const controlPlane = await startInstalledControlPlane();
  const access = await loadKubeconfig([await controlPlane.kubeconfigFor(operator)]);
  const client = createClient(createTransport(access));
  return {
    controlPlane,
    client,
    scene: () => createScene(client, { server: access.server, ca: access.ca }),
    async stop() {
      await client.transport.close();
      await controlPlane.stop();
    },
  };
}

export interface Scene {
  pool: string;
  ours: string;
  machineApi: string;
  clusterApi: string;
  /** Runs certificates and provisioning; from the n-th write on none leaves, as if the process had been killed. */
  run(settings?: FirstBootSettings, dieBeforeWrite?: number): Running;
  makeNamespace(name: string): Promise<void>;
  find(namespace: string, name: string): Promise<Stored<Secret> | undefined>;
  /** The plain text of a key; throws until it is there. */
  text(namespace: string, name: string, key: string): Promise<string>;
  names(namespace: string, labelSelector?: string): Promise<string[]>;
  events(namespace: string, name: string): Promise<ApiEvent[]>;
  end(): Promise<void>;
}

export interface Running {
  writes: readonly string[];
  log(): string;
  stop(): Promise<void>;
}

async function createScene(client: Client, connection: { server: string; ca: string | undefined }): Promise<Scene> {
  const id = randomBytes(4).toString('hex');
  const pool = `pool-${id}`;
  const [ours, machineApi, clusterApi] = [`ours-${id}`, `machine-api-${id}`, `cluster-api-${id}`];
  const running: Running[] = [];
  const makeNamespace = async (name: string): Promise<void> => {
    await client.create(namespaces, { metadata: { name } });
  };
  await makeNamespace(ours);
  await client.create(machineConfigPools, { metadata: { name: pool }, spec: {} });
  const find = (namespace: string, name: string): Promise<Stored<Secret> | undefined> =>
    client.find(secrets, { namespace, name });
  return {
    pool,
    ours,
    machineApi,
    clusterApi,
    makeNamespace,
    find,
    run(settings = {}, dieBeforeWrite = Infinity) {
      const started = start(
        client,
        {
          namespace: ours,
          machineApiNamespace: machineApi,
          clusterApiNamespace: clusterApi,
          serverUrl: 'https://boot.example.com:22623',
          connection,
          ...settings,
        },
        dieBeforeWrite,
      );
      running.push(started);
      return started;
    },
    async text(namespace, name, key) {
      const value = (await find(namespace, name))?.data?.[key];
      if (value === undefined) throw new Error(`Secret ${namespace}/${name} has no key ${key}`);
      return Buffer.from(value, 'base64').toString('utf8');
    },
    async names(namespace, labelSelector) {
      const found: string[] = [];
      for await (const { metadata } of client.list(secrets, { namespace, labelSelector })) found.push(metadata.name);
      return found.sort();
    },
    async events(namespace, name) {
      const found: ApiEvent[] = [];
      const fieldSelector = `involvedObject.name=${name}`;
      for await (const event of client.list(apiEvents, { namespace, fieldSelector })) found.push(event);
      return found;
    },
    async end() {
      for (const each of running) await each.stop();
      await client.delete(machineConfigPools, { name: pool }, {}).catch((error: unknown) => {
        if (!isKubeError(error, 'SLW_KUBE_NOT_FOUND')) throw error;
      });
    },
  };
}

function start(client: Client, settings: FirstBootSettings, dieBeforeWrite: number): Running {
  const lines: string[] = [];
  const writes: string[] = [];
  const allowed = new Set<WriteAttempt>();
  const log = createLog({ level: 'debug', pretty: false, write: (line) => lines.push(line) });
  const manager = createManager({
    // A guard is asked twice about one write: when it is decided, and when its bytes leave.
    client: client.guarded((attempt) => {
      if (allowed.has(attempt)) return;
      if (writes.length + 1 >= dieBeforeWrite) throw new Error('the process is dead');
      allowed.add(attempt);
      writes.push(`${attempt.verb} ${attempt.resource.kind} ${attempt.name.namespace}/${attempt.name.name}`);
    }),
    controllers: [certificatesController(settings), ...provisioningControllers(settings)],
    events: createRecorder(client, { component: 'slipway-test', log }),
    log,
    metrics: createMetrics(),
    stopBoundMs: 0,
  });
  manager.start();
  return { writes, log: () => lines.join(''), stop: () => manager.stop() };
}
