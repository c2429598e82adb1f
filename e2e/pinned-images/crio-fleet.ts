// Machines with a real CRI-O each, and on them the real pinning of the real daemon; a real API server, a real registry, and the
// controllers that tell machines what to hold. No systemd: CRI-O is told to reload by its signal.
import {
  type MachineConfigNode,
  machineConfigNodes,
  machineConfigPools,
  pinnedImageSets,
  ROLE_LABEL,
} from '@slipway/api';
import { machineConfigNodesController, pinnedImagesControllers, rolloutController } from '@slipway/controllers';
import { type Client, createInformer, createMetrics } from '@slipway/kube';
import { machineConfigPool, node } from '@slipway/testing/builders';
import { startTestCluster } from '@slipway/testing/control-plane';
import { createFakeGates } from '@slipway/testing/gates';
import { runControllers, type RunningControllers } from '@slipway/testing/run-controllers';
import { addReadyNode } from '@slipway/testing/stand-in-kubelet';
import type { ControlPlane } from '@slipway/tools/controlplane';
import { type CrioParts, type RunningCrio, startCrio } from '@slipway/tools/crio';
import {
  type ImageSpec,
  openDoor,
  pushImage,
  type RegistryAccess,
  type RunningRegistry,
  startRegistry,
} from '@slipway/tools/registry';
import { type CrioMachine, makeCrioMachine } from './crio-machine.ts';

export interface CrioMachineOptions {
  /** Pools that its node is in. */
  readonly pools: readonly string[];
  readonly storeBytes?: number;
}

export interface CrioFleet {
  readonly client: Client;
  readonly controlPlane: ControlPlane;
  readonly registry: RunningRegistry;
  /** A small image that shares nothing with others, unless told otherwise; by digest. */
  push(name: string, image?: ImageSpec): Promise<string>;
  addPool(name: string): Promise<void>;
  /** Without a daemon. */
  addMachine(name: string, wish: CrioMachineOptions): Promise<CrioMachine>;
  makeSet(name: string, pool: string, images: readonly string[]): Promise<void>;
  changeSet(name: string, images: readonly string[]): Promise<void>;
  removeSet(name: string): Promise<void>;
  stop(): Promise<void>;
}

const SMALL = 2000;
const buildSetSpec = (images: readonly string[]) => ({ pinnedImages: images.map((name) => ({ name })) });

/** Of so many bytes, which nothing makes smaller. */
export const buildImage = (path: string, bytes: number): ImageSpec => ({
  layers: [{ files: [{ path, randomBytes: bytes }] }],
});

export async function startCrioFleet(parts: CrioParts): Promise<CrioFleet> {
  const [cluster, registry] = await Promise.all([startTestCluster(), startRegistry()]);
  const { controlPlane, operator: client } = cluster;
  const controllers = startControllers(client);
  const ended = new AbortController();
  const records = createInformer<MachineConfigNode>(client.transport, { resource: machineConfigNodes });
  records.start(ended.signal);
  await records.synced;
  const machines: CrioMachine[] = [];

  const startRuntime = (
    name: string,
    registries: readonly RegistryAccess[],
    storeBytes: number | undefined,
  ): Promise<RunningCrio> => startCrio({ ...parts, name, registries, ...(storeBytes !== undefined && { storeBytes }) });

  return {
    client,
    controlPlane,
    registry,
    push: (name, image = buildImage(name, SMALL)) => pushImage(registry, `team/${name}`, image),
    async addPool(name) {
      await client.create(machineConfigPools, machineConfigPool(name));
    },
    async addMachine(name, { pools, storeBytes }) {
      const door = await openDoor(registry.port);
      const ways = [registry, { ...registry, host: door.host }];
      const joining = addReadyNode(client, node(name, { pools }));
      const [crio] = await Promise.all([startRuntime(name, ways, storeBytes), joining]);
      const kubeconfig = await controlPlane.kubeconfigFor({
        user: `system:node:${name}`,
        groups: ['system:nodes'],
        name,
      });
      const machine = makeCrioMachine({ name, crio, door, kubeconfig, client, records });
      machines.push(machine);
      await machine.logIn({ [registry.host]: registry, [door.host]: registry });
      return machine;
    },
    async makeSet(name, pool, images) {
      const metadata = { name, labels: { [ROLE_LABEL]: pool } };
      await client.create(pinnedImageSets, { metadata, spec: buildSetSpec(images) });
    },
    async changeSet(name, images) {
      await client.patch(pinnedImageSets, { name }, { type: 'merge', body: { spec: buildSetSpec(images) } }, {});
    },
    removeSet: (name) => client.delete(pinnedImageSets, { name }, {}),
    async stop() {
      ended.abort();
      await Promise.all(machines.map((machine) => machine.stop()));
      await controllers.stop();
      await Promise.all([cluster.stop(), registry.stop()]);
    },
  };
}

function startControllers(client: Client): RunningControllers {
  const gates = createFakeGates();
  const metrics = createMetrics();
  const controllers = [
    rolloutController({ gates }),
    machineConfigNodesController(),
    ...pinnedImagesControllers({ metrics }),
  ];
  return runControllers(client, controllers, { gates, metrics });
}
