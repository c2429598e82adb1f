// A real API server with pools, and the controllers of pinned images. Nodes have no machines: the tests report for
// their daemons.
import {
  type MachineConfigNode,
  machineConfigNodes,
  type MachineConfigPool,
  machineConfigPools,
  nodes,
  pinAssignmentAnnotation,
  type PinnedImageSet,
  pinnedImageSets,
  ROLE_LABEL,
} from '@slipway/api';
import { decodeAssignment, type PinAssignment } from '@slipway/fleet';
import { type Client, createMetrics, type Stored } from '@slipway/kube';
import { machineConfigPool, node } from '@slipway/testing/builders';
import { startTestCluster } from '@slipway/testing/control-plane';
import { createFakeGates, type FakeGates } from '@slipway/testing/gates';
import { removeAll } from '@slipway/testing/resources';
import { runControllers, type RunningControllers, type RunOptions } from '@slipway/testing/run-controllers';
import { addReadyNode } from '@slipway/testing/stand-in-kubelet';
import { machineConfigNodesController } from '../../machine-config-nodes-controller.ts';
import { rolloutController } from '../../rollout/controller.ts';
import { pinnedImagesControllers } from '../assignments-controller.ts';

const NAMESPACE = 'openshift-machine-config-operator';

export interface ControllerRunOptions extends Pick<RunOptions, 'killAtWrite'> {
  readonly gate?: boolean;
  /** With a lease that others may compete for. */
  readonly elected?: boolean;
}

export interface Running extends RunningControllers, Pick<FakeGates, 'turn'> {}

/** What the daemon of a node would report. */
export interface DaemonReport {
  /** The generation whose images it has; null: it works on its first. */
  readonly sets?: Readonly<Record<string, number | null>>;
  readonly failing?: readonly string[];
  readonly failure?: string;
}

export interface PinsCluster {
  readonly client: Client;
  run(wish?: ControllerRunOptions): Running;
  addPool(name: string, spec?: Partial<MachineConfigPool['spec']>): Promise<void>;
  pool(name: string): Promise<Stored<MachineConfigPool>>;
  patchPool(name: string, body: object): Promise<void>;
  addSet(name: string, role: string, images?: readonly string[]): Promise<Stored<PinnedImageSet>>;
  editSet(name: string, images: readonly string[]): Promise<void>;
  removeSet(name: string): Promise<void>;
  addNode(name: string, ...roles: string[]): Promise<void>;
  told(node: string): Promise<PinAssignment | null>;
  says(node: string, said: DaemonReport): Promise<void>;
  /** A daemon that completes every assignment immediately. */
  obeys(...names: string[]): Promise<void>;
  clear(): Promise<void>;
  stop(): Promise<void>;
}

const digest = (text: string): string => Buffer.from(text.padEnd(32, '.')).toString('hex').slice(0, 64);
export const imageNamed = (name: string): string => `registry.example.com/team/${name}@sha256:${digest(name)}`;
const toPinnedImages = (names: readonly string[]) => names.map((name) => ({ name: imageNamed(name) }));

export async function startPinsCluster(): Promise<PinsCluster> {
  const { operator: client, stop } = await startTestCluster();
  const merge = (body: object) => ({ type: 'merge', body }) as const;

  const cluster: PinsCluster = {
    client,
    run: (wish) => run(client, wish),
    async addPool(name, spec = {}) {
      await client.create(machineConfigPools, machineConfigPool(name, spec));
    },
    pool: (name) => client.get(machineConfigPools, { name }),
    async patchPool(name, body) {
      await client.patch(machineConfigPools, { name }, merge(body), {});
    },
    addSet: (name, role, images = [name]) =>
      client.create(pinnedImageSets, {
        metadata: { name, labels: { [ROLE_LABEL]: role } },
        spec: { pinnedImages: toPinnedImages(images) },
      }),
    async editSet(name, images) {
      await client.patch(pinnedImageSets, { name }, merge({ spec: { pinnedImages: toPinnedImages(images) } }), {});
    },
    removeSet: (name) => client.delete(pinnedImageSets, { name }, {}),
    addNode: (name, ...pools) => addReadyNode(client, node(name, { pools })),
    async told(name) {
      const record = await client.find(machineConfigNodes, { name });
      return decodeAssignment(record?.metadata.annotations?.[pinAssignmentAnnotation] ?? '');
    },
    async says(name, said) {
      const before = await client.get(machineConfigNodes, { name });
      const body = {
        metadata: { resourceVersion: before.metadata.resourceVersion },
        status: buildNodeStatus(before, said),
      };
      await client.patch(machineConfigNodes, { name }, merge(body), {}, { subresource: 'status' });
    },
    async obeys(...names) {
      for (const name of names) {
        const { sets = [] } = (await cluster.told(name)) ?? {};
        await cluster.says(name, { sets: Object.fromEntries(sets.map((set) => [set.name, set.generation])) });
      }
    },
    clear: () => removeAll(client, pinnedImageSets, machineConfigPools, machineConfigNodes, nodes),
    stop,
  };
  return cluster;
}

function buildNodeStatus(
  { status }: MachineConfigNode,
  { sets = {}, failing = [], failure = '' }: DaemonReport,
): object {
  const failed = { lastFailedGeneration: 1, lastFailedGenerationError: failure };
  const entries = Object.entries(sets).map(([name, current]) =>
    Object.assign(
      { name, desiredGeneration: current ?? 1 },
      current === null ? {} : { currentGeneration: current },
      failing.includes(name) ? failed : {},
    ),
  );
  const degraded = {
    type: 'PinnedImageSetsDegraded',
    status: failure === '' ? 'False' : 'True',
    reason: failure === '' ? 'AsExpected' : 'PrefetchFailed',
    message: failure,
    lastTransitionTime: `${new Date().toISOString().slice(0, 19)}Z`,
  };
  const others = (status?.conditions ?? []).filter(({ type }) => type !== degraded.type);
  return { pinnedImageSets: entries.length === 0 ? null : entries, conditions: [...others, degraded] };
}

function run(client: Client, { gate = true, elected = false, killAtWrite }: ControllerRunOptions = {}): Running {
  const gates = createFakeGates({ PinnedImages: gate });
  const metrics = createMetrics();
  const controllers = [
    rolloutController({ gates }),
    machineConfigNodesController(),
    ...pinnedImagesControllers({ metrics }),
  ];
  const election = elected ? { client, lease: { namespace: NAMESPACE, name: 'slipway-controllers' } } : undefined;
  const running = runControllers(client, controllers, { gates, metrics, election, killAtWrite });
  return { ...running, turn: (on) => gates.turn(on, 'PinnedImages') };
}
