import { randomBytes } from 'node:crypto';
import { machineConfigPools, namespaces, type Secret, secrets } from '@slipway/api';
import { certificatesController, provisioningControllers } from '@slipway/controllers';
import type { FirstBootSettings } from '@slipway/fleet';
import type { Client, Stored } from '@slipway/kube';
import { startTestCluster } from '@slipway/testing/control-plane';
import { type ApiEvent, listEvents, removeIfThere } from '@slipway/testing/resources';
import { runControllers, type RunningControllers } from '@slipway/testing/run-controllers';
import type { ControlPlane } from '@slipway/tools/controlplane';

/** A control plane of its own: pools and Infrastructure are the cluster's, and the controllers tend all of them. */
export interface Cluster {
  controlPlane: ControlPlane;
  client: Client;
  /** Fresh namespaces, pool and controllers for one test. */
  scene(): Promise<ProvisioningScene>;
  stop(): Promise<void>;
}

export async function startCluster(): Promise<Cluster> {
  const { controlPlane, operator: client, stop } = await startTestCluster();
  return {
    controlPlane,
    client,
    scene: () => createProvisioningScene(client, { server: controlPlane.url, ca: controlPlane.ca }),
    stop,
  };
}

export interface ProvisioningScene {
  pool: string;
  ours: string;
  machineApi: string;
  clusterApi: string;
  /** Runs certificates and provisioning; from the n-th write on none leaves, as if the process had been killed. */
  run(settings?: FirstBootSettings, dieBeforeWrite?: number): RunningControllers;
  makeNamespace(name: string): Promise<void>;
  find(namespace: string, name: string): Promise<Stored<Secret> | undefined>;
  /** The plain text of a key; throws until it is there. */
  text(namespace: string, name: string, key: string): Promise<string>;
  names(namespace: string, labelSelector?: string): Promise<string[]>;
  events(namespace: string, name: string): Promise<ApiEvent[]>;
  end(): Promise<void>;
}

async function createProvisioningScene(
  client: Client,
  connection: { server: string; ca: string | undefined },
): Promise<ProvisioningScene> {
  const id = randomBytes(4).toString('hex');
  const pool = `pool-${id}`;
  const [ours, machineApi, clusterApi] = [`ours-${id}`, `machine-api-${id}`, `cluster-api-${id}`];
  const running: RunningControllers[] = [];
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
    run(given = {}, killAtWrite) {
      const settings: FirstBootSettings = {
        namespace: ours,
        machineApiNamespace: machineApi,
        clusterApiNamespace: clusterApi,
        serverUrl: 'https://boot.example.com:22623',
        connection: { server: connection.server, ca: async () => connection.ca },
        ...given,
      };
      const controllers = [certificatesController(settings), ...provisioningControllers(settings)];
      const started = runControllers(client, controllers, { killAtWrite });
      running.push(started);
      return started;
    },
    async text(namespace, name, key) {
      const value = (await find(namespace, name))?.data?.[key];
      if (value === undefined) throw new Error(`Secret ${namespace}/${name} has no key ${key}`);
      return Buffer.from(value, 'base64').toString('utf8');
    },
    async names(namespace, labelSelector) {
      const found = await Array.fromAsync(client.list(secrets, { namespace, labelSelector }));
      return found.map(({ metadata }) => metadata.name).sort();
    },
    events: (namespace, name) => listEvents(client, { namespace, name }),
    async end() {
      for (const each of running) await each.stop();
      await removeIfThere(client, machineConfigPools, { name: pool });
    },
  };
}
