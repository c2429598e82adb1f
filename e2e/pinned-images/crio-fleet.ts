// Machines with a real CRI-O each, and on them the real pinning of the real daemon; a real API server, a real registry, and the
// controllers that tell machines what to hold. No systemd: CRI-O is told to reload by its signal.
import {
  type MachineConfigNode,
  machineConfigNodes,
  machineConfigPools,
  nodes,
  pinnedImageSets,
  roleLabel,
} from '@slipway/api';
import { machineConfigNodesController, pinnedImagesControllers, rolloutController } from '@slipway/controllers';
import {
  type Client,
  createClient,
  createInformer,
  createManager,
  createMetrics,
  createRecorder,
  createTransport,
  type Gates,
  loadKubeconfig,
  silentLog,
} from '@slipway/kube';
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
import { startInstalledControlPlane } from '../installed-control-plane.ts';
import { operator } from '../operator.ts';
import { type CrioMachine, makeCrioMachine } from './crio-machine.ts';

export interface MachineWish {
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
  addMachine(name: string, wish: MachineWish): Promise<CrioMachine>;
  makeSet(name: string, pool: string, images: readonly string[]): Promise<void>;
  changeSet(name: string, images: readonly string[]): Promise<void>;
  removeSet(name: string): Promise<void>;
  stop(): Promise<void>;
}

const SMALL = 2000;
const allOn: Gates = { isOn: () => true, onChange: () => () => {} };
const imagesOf = (images: readonly string[]) => ({ pinnedImages: images.map((name) => ({ name })) });

/** Of so many bytes, which nothing makes smaller. */
export const imageOf = (path: string, bytes: number): ImageSpec => ({
  layers: [{ files: [{ path, randomBytes: bytes }] }],
});

export async function startCrioFleet(parts: CrioParts): Promise<CrioFleet> {
  const [controlPlane, registry] = await Promise.all([startInstalledControlPlane(), startRegistry()]);
  const client = createClient(createTransport(await loadKubeconfig([await controlPlane.kubeconfigFor(operator)])));
  const controllers = startControllers(client);
  const ended = new AbortController();
  const records = createInformer<MachineConfigNode>(client.transport, { resource: machineConfigNodes });
  records.start(ended.signal);
  await records.synced;
  const machines: CrioMachine[] = [];

  async function addNode(name: string, pools: readonly string[]): Promise<void> {
    const labels = Object.fromEntries(pools.map((pool) => [`node-role.kubernetes.io/${pool}`, '']));
    await client.create(nodes, { metadata: { name, labels } });
    const body = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
    await client.patch(nodes, { name }, { type: 'merge', body }, {}, { subresource: 'status' });
  }

  const startRuntime = (
    name: string,
    registries: readonly RegistryAccess[],
    storeBytes: number | undefined,
  ): Promise<RunningCrio> => startCrio({ ...parts, name, registries, ...(storeBytes !== undefined && { storeBytes }) });

  return {
    client,
    controlPlane,
    registry,
    push: (name, image = imageOf(name, SMALL)) => pushImage(registry, `team/${name}`, image),
    async addPool(name) {
      await client.create(machineConfigPools, {
        metadata: { name },
        spec: {
          machineConfigSelector: { matchLabels: { [roleLabel]: name } },
          nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: '' } },
        },
      });
    },
    async addMachine(name, { pools, storeBytes }) {
      const door = await openDoor(registry.port);
      const ways = [registry, { ...registry, host: door.host }];
      const [crio] = await Promise.all([startRuntime(name, ways, storeBytes), addNode(name, pools)]);
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
      const metadata = { name, labels: { [roleLabel]: pool } };
      await client.create(pinnedImageSets, { metadata, spec: imagesOf(images) });
    },
    async changeSet(name, images) {
      await client.patch(pinnedImageSets, { name }, { type: 'merge', body: { spec: imagesOf(images) } }, {});
    },
    removeSet: (name) => client.delete(pinnedImageSets, { name }, {}),
    async stop() {
      ended.abort();
      await Promise.all(machines.map((machine) => machine.stop()));
      await controllers.stop();
      await Promise.all([client.transport.close(), registry.stop()]);
      await controlPlane.stop();
    },
  };
}

function startControllers(client: Client): { stop(): Promise<void> } {
  const log = silentLog();
  const metrics = createMetrics();
  const manager = createManager({
    client,
    controllers: [
      rolloutController({ gates: allOn }),
      machineConfigNodesController(),
      ...pinnedImagesControllers({ gates: allOn, metrics }),
    ],
    events: createRecorder(client, { component: 'slipway-test', log }),
    log,
    metrics,
    gates: allOn,
    stopBoundMs: 0,
  });
  manager.start();
  return manager;
}
