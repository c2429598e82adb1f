// Many machines that pull and pin images: the real API server and our controllers as a process; the real pinning of the real
// daemons, all in this process, each by the identity of its node. Simulated are the machines, each a directory.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { machineConfigPools, nodes } from '@slipway/api';
import { createDisk, type FileSystem } from '@slipway/daemon';
import { type Client, createClient, createRecorder, impersonating, silentLog } from '@slipway/kube';
import { createManyDaemons, createSimulatedHost, makeSimulatedMachine, setRuntimeBehaviour } from '@slipway/simulator';
import { node } from '@slipway/testing/builders';
import { operator, startTestCluster } from '@slipway/testing/control-plane';
import { runControllers } from '@slipway/testing/run-controllers';
import { startSlipway } from '@slipway/testing/slipway-process';
import { readyCondition } from '@slipway/testing/stand-in-kubelet';
import { until } from '@slipway/testing/wait';
import { pickFreePort } from '@slipway/tools/controlplane';

export interface PinFleet {
  /** An administrator's. */
  readonly client: Client;
  readonly auditLog: string;
  readonly names: readonly string[];
  /** How the container runtime of a machine behaves from now on. */
  behave(name: string, behaviour: Parameters<typeof setRuntimeBehaviour>[1]): Promise<void>;
  stop(): Promise<void>;
}

const AT_ONCE = 16;

export interface PinFleetOptions {
  readonly machines: number;
  /** Of each pull. */
  readonly bytesPerSecond: number;
}

export async function startPinFleet({ machines, bytesPerSecond }: PinFleetOptions): Promise<PinFleet> {
  const cluster = await startTestCluster();
  const { controlPlane, admin: client } = cluster;
  const controllers = startSlipway(
    'controller',
    `--kubeconfig=${await controlPlane.kubeconfigFor(operator)}`,
    '--feature-gates=PinnedImages=true',
    `--probes=127.0.0.1:${await pickFreePort()}`,
  );
  const directory = await mkdtemp(join(tmpdir(), 'slipway-pins-'));
  const log = silentLog();
  const daemons = createManyDaemons({
    programVersion: '0.0.0',
    log,
    watchesDisks: false,
    accessOf(name) {
      const own = createClient(
        impersonating(client.transport, { user: `system:node:${name}`, groups: ['system:nodes'] }),
      );
      return { client: own, events: createRecorder(own, { component: 'machine-config-daemon', instance: name, log }) };
    },
  });
  // Of the daemons only what they do about images: configs have tests of their own.
  const pinning = daemons.controllers.filter(({ name }) => name === 'pinning');
  const manager = runControllers(client, pinning, { log, stopBoundMs: 20_000 });

  const getRootPath = (name: string): string => join(directory, name);
  async function bringUp(name: string, config: string): Promise<void> {
    const root = getRootPath(name);
    await mkdir(root);
    const files = createUnsyncedDisk(root);
    await makeSimulatedMachine(files);
    await setRuntimeBehaviour(files, { bytesPerSecond });
    await daemons.start({ nodeName: name, host: createSimulatedHost({ root, files }), root });
    // It has the config of its pool: nothing is to be rolled out.
    await client.create(nodes, { ...node(name, { config }), status: { conditions: [readyCondition()] } });
  }

  const names = Array.from({ length: machines }, (_, index) => `worker-${String(index + 1).padStart(3, '0')}`);
  const config = await newestConfig(client);
  const queue = names.values();
  const work = async (): Promise<void> => {
    for (const name of queue) await bringUp(name, config);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return {
    client,
    auditLog: controlPlane.auditLog,
    names,
    behave: (name, behaviour) =>
      setRuntimeBehaviour(createUnsyncedDisk(getRootPath(name)), { bytesPerSecond, ...behaviour }),
    async stop() {
      await manager.stop();
      await daemons.stopAll();
      await controllers.stop();
      await cluster.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** It syncs nothing: hundreds of machines on one disk would wait for it most of the time. */
const createUnsyncedDisk = (root: string): FileSystem => ({
  ...createDisk({ root }),
  syncFile: async () => {},
  syncDirectory: async () => {},
});

const newestConfig = (client: Client): Promise<string> =>
  until(async () => {
    const name = (await client.find(machineConfigPools, { name: 'worker' }))?.spec.configuration?.name ?? '';
    if (name === '') throw new Error('pool worker is not rendered yet');
    return name;
  }, 'rollout');
