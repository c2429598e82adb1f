import { rm } from 'node:fs/promises';
import { DEFAULT_NAMESPACE, machineConfigPools, machineConfigs, namespaces, secrets } from '@slipway/api';
import type { MachineConfig } from '@slipway/api';
import { buildDiskPlan, firstBootConfig, serverSecrets, type DiskPlan } from '@slipway/fleet';
import type { Client } from '@slipway/kube';
import { machineConfig } from '@slipway/testing/builders';
import { operator, startTestCluster } from '@slipway/testing/control-plane';
import { startSlipway, type RunningProcess } from '@slipway/testing/slipway-process';
import { until } from '@slipway/testing/wait';
import { type ControlPlane, pickFreePort } from '@slipway/tools/controlplane';
import { makeBootDirectory } from './boot.ts';

const MACHINE_NAMESPACE = 'openshift-machine-api';

/** A whole fleet but for its machines: a control plane of its own, our controllers and our server, each a process. */
export interface Fleet {
  controlPlane: ControlPlane;
  client: Client;
  /** Writes a kubeconfig for this user and returns its path. */
  kubeconfigFor: ControlPlane['kubeconfigFor'];
  /** For boots and everything else on disk. */
  directory: string;
  serverUrl: string;
  server: RunningProcess;
  /** Starts the controllers again, with other flags. */
  restartControllers(...flags: string[]): Promise<void>;
  stopControllers(): Promise<void>;
  /** The user data that a new machine of this pool would be started with. */
  stubOf(pool: string): Promise<Stub>;
  /** What the disk of a new machine of this pool must be. */
  planOf(pool: string): Promise<DiskPlan>;
  /** Resolves with the pool's rendered config as soon as it is made from all of these, and perhaps others. */
  rendered(pool: string, sources: readonly string[]): Promise<MachineConfig>;
  /** Resolves with the name of the pool's rendered config as soon as it is another than this one. */
  renderedOtherThan(pool: string, before: string): Promise<string>;
  addMachineConfig(name: string, role: string, config: Record<string, unknown>): Promise<void>;
  stop(): Promise<void>;
}

/** The parts of a stub that tests look at or replace. */
export interface Stub {
  ignition: {
    config: { merge: { source: string; httpHeaders?: { name: string; value: string }[] }[] };
    security: { tls: { certificateAuthorities: { source: string }[] } };
  };
}

/** `flags`: of the controllers. */
export async function startFleet(...flags: string[]): Promise<Fleet> {
  const cluster = await startTestCluster();
  const { controlPlane, operator: client } = cluster;
  const directory = await makeBootDirectory();
  const kubeconfig = await controlPlane.kubeconfigFor(operator);
  await client.create(namespaces, { metadata: { name: MACHINE_NAMESPACE } });

  const port = await pickFreePort();
  const serverUrl = `https://127.0.0.1:${port}`;
  const probes = async (): Promise<string> => `127.0.0.1:${await pickFreePort([port])}`;
  // Remote content comes from this machine, which is refused unless it is allowed.
  const fixed = ['--kubeconfig', kubeconfig, '--server-url', serverUrl, '--allow-address', '127.0.0.0/8'];
  const startControllers = async (...flags: string[]): Promise<RunningProcess> =>
    startSlipway('controller', ...fixed, '--probes', await probes(), ...flags);
  let controllers = await startControllers(...flags);
  const serverFlags = ['--listen', `127.0.0.1:${port}`, '--probes', await probes()];
  const server = startSlipway('server', '--kubeconfig', kubeconfig, ...serverFlags);

  const stopControllers = (): Promise<void> => controllers.stop();
  return {
    controlPlane,
    client,
    kubeconfigFor: (who) => controlPlane.kubeconfigFor(who),
    directory,
    serverUrl,
    server,
    stopControllers,
    async restartControllers(...others) {
      await stopControllers();
      controllers = await startControllers(...others);
    },
    stubOf: (pool) => readStub(client, pool),
    planOf: (pool) => readDiskPlan(client, pool),
    rendered: (pool, sources) => waitForRendered(client, pool, sources),
    renderedOtherThan: (pool, before) =>
      until(async () => {
        const { name } = (await waitForRendered(client, pool, [])).metadata;
        if (name === before) throw new Error(`pool ${pool} is still rendered as ${before}`);
        return name;
      }),
    async addMachineConfig(name, role, config) {
      await client.create(machineConfigs, machineConfig(name, role, { config }));
    },
    async stop() {
      await Promise.all([controllers.stop(), server.stop()]);
      await cluster.stop();
      await rm(directory, { recursive: true });
    },
  };
}

async function readStub(client: Client, pool: string): Promise<Stub> {
  return until(async () => {
    const stub = await client.find(secrets, { namespace: MACHINE_NAMESPACE, name: `${pool}-user-data-managed` });
    return JSON.parse(readSecretText(stub?.data, 'userData')) as Stub;
  });
}

async function waitForRendered(client: Client, pool: string, sources: readonly string[]): Promise<MachineConfig> {
  return until(async () => {
    const { spec, status } = (await client.find(machineConfigPools, { name: pool })) ?? {};
    const { name = '', source = [] } = spec?.configuration ?? {};
    const missing = sources.filter((wanted) => !source.some((each) => each.name === wanted));
    const rendered = missing.length > 0 ? undefined : await client.find(machineConfigs, { name });
    if (rendered === undefined) throw new Error(`pool ${pool} is not yet rendered from ${missing.join(', ')}`);
    // The status of a pool without machines follows within a second. Until then, the first machine gets the config before.
    if ((status?.machineCount ?? 0) === 0 && status?.configuration?.name !== name)
      throw new Error(`the status of pool ${pool} does not name ${name} yet`);
    return rendered;
  });
}

async function readDiskPlan(client: Client, pool: string): Promise<DiskPlan> {
  const rendered = await waitForRendered(client, pool, []);
  const joining = await client.find(secrets, { namespace: DEFAULT_NAMESPACE, name: serverSecrets.kubeconfig });
  const node = {
    kubeconfig: readSecretText(joining?.data, 'kubeconfig'),
    caBundle: readSecretText(joining?.data, 'ca.crt'),
  };
  return buildDiskPlan(await firstBootConfig(rendered, node));
}

function readSecretText(data: Record<string, string> | undefined, key: string): string {
  const value = data?.[key];
  if (value === undefined) throw new Error(`the Secret has no ${key} yet`);
  return Buffer.from(value, 'base64').toString('utf8');
}
