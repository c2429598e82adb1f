// A real API server with pools, and the controllers that bring pinned images to machines. Nodes have no machines: the tests say
// what their daemons would say.
import {
  crdOf,
  type Kind,
  machineConfigKind,
  type MachineConfigNode,
  machineConfigNodeKind,
  machineConfigNodes,
  type MachineConfigPool,
  machineConfigPoolKind,
  machineConfigPools,
  machineConfigurationKind,
  namespaces,
  nodes,
  osImageStreamKind,
  pinAssignmentAnnotation,
  type PinnedImageSet,
  pinnedImageSetKind,
  pinnedImageSets,
  roleLabel,
} from '@slipway/api';
import { decodeAssignment, type PinAssignment } from '@slipway/fleet';
import {
  type Client,
  createClient,
  createLog,
  createManager,
  createMetrics,
  createRecorder,
  createTransport,
  type Gates,
  type KubeObject,
  loadKubeconfig,
  type Resource,
  type Stored,
  type WriteAttempt,
} from '@slipway/kube';
import { borrowControlPlane } from '@slipway/tools/controlplane';
import { vi } from 'vitest';
import { machineConfigNodesController } from '../../machine-config-nodes-controller.ts';
import { rolloutController } from '../../rollout/controller.ts';
import { pinnedImagesControllers } from '../controllers.ts';

const patience = { timeout: 20_000, interval: 50 };
export const until = <T>(ask: () => Promise<T> | T): Promise<T> => vi.waitFor(ask, patience);

const namespace = 'openshift-machine-config-operator';

interface Crd extends KubeObject {
  status?: { conditions?: { type: string; status: string }[] };
}
const crds: Resource<Crd> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

export interface RunWish {
  readonly gate?: boolean;
  /** With a lease, for which others may stand too. */
  readonly elected?: boolean;
  /** So many writes leave, and from then on none, as if the process had been killed. */
  readonly writesLeft?: number;
}

export interface Running {
  /** What they wrote so far: `patch MachineConfigNode n1`. */
  readonly writes: readonly string[];
  metrics(this: void): Promise<string>;
  log(this: void): string;
  turn(this: void, on: boolean): void;
  leads(this: void): boolean;
  stop(): Promise<void>;
}

/** What the daemon of a node would say. */
export interface Said {
  /** The generation whose images it holds; null: it works on its first. */
  readonly sets?: Readonly<Record<string, number | null>>;
  readonly failing?: readonly string[];
  readonly failure?: string;
}

export interface PinsCluster {
  readonly client: Client;
  run(wish?: RunWish): Running;
  addPool(name: string, spec?: Partial<MachineConfigPool['spec']>): Promise<void>;
  pool(name: string): Promise<Stored<MachineConfigPool>>;
  patchPool(name: string, body: object): Promise<void>;
  addSet(name: string, role: string, images?: readonly string[]): Promise<Stored<PinnedImageSet>>;
  editSet(name: string, images: readonly string[]): Promise<void>;
  removeSet(name: string): Promise<void>;
  addNode(name: string, ...roles: string[]): Promise<void>;
  told(node: string): Promise<PinAssignment | null>;
  says(node: string, said: Said): Promise<void>;
  /** As a daemon that does at once what it is told. */
  obeys(...names: string[]): Promise<void>;
  clear(): Promise<void>;
  stop(): Promise<void>;
}

const kinds: readonly Kind[] = [
  machineConfigKind,
  machineConfigPoolKind,
  machineConfigNodeKind,
  machineConfigurationKind,
  osImageStreamKind,
  pinnedImageSetKind,
];

async function installCrd(client: Client, kind: Kind): Promise<void> {
  const crd = await client.create(crds, crdOf(kind), { fieldManager: 'slipway-install' });
  await until(async () => {
    const { status } = await client.get(crds, crd.metadata);
    if (status?.conditions?.some((each) => each.type === 'Established' && each.status === 'True') !== true)
      throw new Error(`${crd.metadata.name} is not served`);
  });
}

const digest = (text: string): string => Buffer.from(text.padEnd(32, '.')).toString('hex').slice(0, 64);
export const imageNamed = (name: string): string => `registry.example.com/team/${name}@sha256:${digest(name)}`;
const imagesOf = (names: readonly string[]) => names.map((name) => ({ name: imageNamed(name) }));

export async function startPinsCluster(): Promise<PinsCluster> {
  const controlPlane = await borrowControlPlane();
  const client = createClient(createTransport(await loadKubeconfig([controlPlane.kubeconfig])));
  await Promise.all(kinds.map((kind) => installCrd(client, kind)));
  await client.create(namespaces, { metadata: { name: namespace } });
  const merge = (body: object) => ({ type: 'merge', body }) as const;

  const cluster: PinsCluster = {
    client,
    run: (wish) => run(client, wish),
    async addPool(name, spec = {}) {
      await client.create(machineConfigPools, {
        metadata: { name },
        spec: {
          machineConfigSelector: { matchLabels: { [roleLabel]: name } },
          nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: '' } },
          ...spec,
        },
      });
    },
    pool: (name) => client.get(machineConfigPools, { name }),
    async patchPool(name, body) {
      await client.patch(machineConfigPools, { name }, merge(body), {});
    },
    addSet: (name, role, images = [name]) =>
      client.create(pinnedImageSets, {
        metadata: { name, labels: { [roleLabel]: role } },
        spec: { pinnedImages: imagesOf(images) },
      }),
    async editSet(name, images) {
      await client.patch(pinnedImageSets, { name }, merge({ spec: { pinnedImages: imagesOf(images) } }), {});
    },
    removeSet: (name) => client.delete(pinnedImageSets, { name }, {}),
    async addNode(name, ...roles) {
      const labels = Object.fromEntries(roles.map((role) => [`node-role.kubernetes.io/${role}`, '']));
      await client.create(nodes, { metadata: { name, labels } });
      const status = { conditions: [{ type: 'Ready', status: 'True' }] };
      await client.patch(nodes, { name }, merge({ status }), {}, { subresource: 'status' });
    },
    async told(name) {
      const record = await client.find(machineConfigNodes, { name });
      return decodeAssignment(record?.metadata.annotations?.[pinAssignmentAnnotation] ?? '');
    },
    async says(name, said) {
      const before = await client.get(machineConfigNodes, { name });
      const body = { metadata: { resourceVersion: before.metadata.resourceVersion }, status: statusOf(before, said) };
      await client.patch(machineConfigNodes, { name }, merge(body), {}, { subresource: 'status' });
    },
    async obeys(...names) {
      for (const name of names) {
        const { sets = [] } = (await cluster.told(name)) ?? {};
        await cluster.says(name, { sets: Object.fromEntries(sets.map((set) => [set.name, set.generation])) });
      }
    },
    async clear() {
      for (const resource of [pinnedImageSets, machineConfigPools, machineConfigNodes, nodes])
        for await (const { metadata } of client.list<KubeObject>(resource))
          await client.delete(resource, metadata, {}).catch(() => {});
    },
    async stop() {
      await client.transport.close();
      await controlPlane.stop();
    },
  };
  return cluster;
}

function statusOf({ status }: MachineConfigNode, { sets = {}, failing = [], failure = '' }: Said): object {
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

function run(client: Client, { gate = true, elected = false, writesLeft = Infinity }: RunWish = {}): Running {
  const lines: string[] = [];
  const writes: string[] = [];
  const allowed = new Set<WriteAttempt>();
  const listeners = new Set<() => void>();
  let isOn = gate;
  const gates: Gates = {
    isOn: (name) => name === 'PinnedImages' && isOn,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const log = createLog({ level: 'debug', pretty: false, write: (line) => lines.push(line) });
  const metrics = createMetrics();
  const manager = createManager({
    client: client.guarded((attempt) => {
      if (allowed.has(attempt)) return;
      const part = attempt.subresource === undefined ? '' : `/${attempt.subresource}`;
      if (writes.length >= writesLeft) throw new Error('the process is dead');
      allowed.add(attempt);
      writes.push(`${attempt.verb} ${attempt.resource.kind}${part} ${attempt.name.name}`);
    }),
    controllers: [
      rolloutController({ gates }),
      machineConfigNodesController(),
      ...pinnedImagesControllers({ gates, metrics }),
    ],
    events: createRecorder(client, { component: 'slipway-test', log }),
    log,
    metrics,
    gates,
    stopBoundMs: 0,
    ...(elected && { election: { client, lease: { namespace, name: 'slipway-controllers' } } }),
  });
  manager.start();
  return {
    writes,
    metrics: () => metrics.registry.metrics(),
    log: () => lines.join(''),
    leads: () => manager.leadership?.held === true,
    turn(on) {
      isOn = on;
      for (const listener of listeners) listener();
    },
    stop: () => manager.stop(),
  };
}
