// Nodes with pods on a real API server. The kubelet that ends pods and the controller that counts for budgets are played.
import { namespaces, nodeAnnotations, nodes, podDisruptionBudgets, pods } from '@slipway/api';
import type { Node, ObjectMeta, Pod } from '@slipway/api';
import { createClient, createTransport, isKubeError, loadKubeconfig } from '@slipway/kube';
import type { Client, KubeObject, Name, Resource, Stored } from '@slipway/kube';
import { borrowControlPlane } from '@slipway/tools/controlplane';

export interface SeenEvent extends KubeObject {
  type: string;
  reason: string;
  message: string;
}

export interface DrainCluster {
  readonly client: Client;
  addNode(name: string, node?: { annotations?: Record<string, string>; unschedulable?: boolean }): Promise<void>;
  node(name: string): Promise<Stored<Node>>;
  /** As the daemon does: `drain-…` or `uncordon-…`. */
  ask(name: string, wish: string): Promise<void>;
  annotate(name: string, annotations: Record<string, string | null>): Promise<void>;
  /** What nobody cordoned is schedulable. */
  setCordoned(name: string, unschedulable: boolean): Promise<void>;
  addPod(name: string, nodeName: string, pod?: PodWish): Promise<void>;
  pod(name: string): Promise<Stored<Pod> | undefined>;
  podNames(): Promise<string[]>;
  /** Selects pods with `app: name`. */
  addBudget(name: string, allowed: number, app?: string): Promise<void>;
  allow(name: string, allowed: number): Promise<void>;
  /** A ReplicaSet that a Deployment has made. */
  addReplicaSet(name: string, deployment: string): Promise<void>;
  eventsOf(node: string): Promise<SeenEvent[]>;
  /** Ends the pods that were told to end, once; with `names` only those. */
  endPods(names?: readonly string[]): Promise<void>;
  /** Without nodes, pods and budgets. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

export interface PodWish {
  readonly app?: string;
  readonly phase?: string;
  readonly owner?: { readonly kind: string; readonly name: string };
  readonly annotations?: Record<string, string>;
}

const namespace = 'shop';
const here = (name: string): Name & { namespace: string } => ({ namespace, name });
const uid = '00000000-0000-0000-0000-000000000001';

const serviceAccounts: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};
const events: Resource<SeenEvent> = { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true };
interface ReplicaSet extends KubeObject {
  spec: object;
}
const replicaSets: Resource<ReplicaSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  namespaced: true,
};

async function all<T>(list: AsyncGenerator<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of list) found.push(each);
  return found;
}

const ownerReferences = ({
  kind,
  name,
}: {
  kind: string;
  name: string;
}): NonNullable<ObjectMeta['ownerReferences']> => [{ apiVersion: 'apps/v1', kind, name, uid, controller: true }];

export async function startDrainCluster(): Promise<DrainCluster> {
  const controlPlane = await borrowControlPlane();
  const client = createClient(createTransport(await loadKubeconfig([controlPlane.kubeconfig])));
  await client.create(namespaces, { metadata: { name: namespace } });
  // kube-controller-manager would make it.
  await client.create(serviceAccounts, { metadata: here('default') });
  const allPods = (): Promise<Stored<Pod>[]> => all(client.list(pods, { namespace }));
  const annotate: DrainCluster['annotate'] = async (name, annotations) => {
    await client.patch(nodes, { name }, { type: 'merge', body: { metadata: { annotations } } }, {});
  };
  const end = (name: string): Promise<void> =>
    client.delete(pods, here(name), {}, { gracePeriodSeconds: 0 }).catch((error: unknown) => {
      if (!isKubeError(error, 'SLW_KUBE_NOT_FOUND')) throw error;
    });
  const allow: DrainCluster['allow'] = async (name, allowed) => {
    const { generation = 1 } = (await client.get(podDisruptionBudgets, here(name))).metadata;
    const status = {
      observedGeneration: generation,
      disruptionsAllowed: allowed,
      currentHealthy: 1 + allowed,
      desiredHealthy: 1,
      expectedPods: 1 + allowed,
    };
    const patch = { type: 'merge', body: { status } } as const;
    await client.patch(podDisruptionBudgets, here(name), patch, {}, { subresource: 'status' });
  };
  return {
    client,
    async addNode(name, { annotations = {}, unschedulable = false } = {}) {
      await client.create(nodes, { metadata: { name, annotations }, spec: { unschedulable } });
    },
    node: (name) => client.get(nodes, { name }),
    ask: (name, wish) => annotate(name, { [nodeAnnotations.desiredDrain]: wish }),
    annotate,
    async setCordoned(name, unschedulable) {
      await client.patch(nodes, { name }, { type: 'merge', body: { spec: { unschedulable } } }, {});
    },
    async addPod(name, nodeName, { app, phase = 'Running', owner, annotations = {} } = {}) {
      await client.create(pods, {
        metadata: {
          ...here(name),
          annotations,
          ...(app !== undefined && { labels: { app } }),
          ...(owner !== undefined && { ownerReferences: ownerReferences(owner) }),
        },
        spec: { nodeName, containers: [{ name: 'c', image: 'registry.example.com/c' }] },
      });
      const status = { phase, conditions: [{ type: 'Ready', status: phase === 'Running' ? 'True' : 'False' }] };
      await client.patch(pods, here(name), { type: 'merge', body: { status } }, {}, { subresource: 'status' });
    },
    pod: (name) => client.find(pods, here(name)),
    podNames: async () => (await allPods()).map(({ metadata }) => metadata.name).sort(),
    async addBudget(name, allowed, app = name) {
      await client.create(podDisruptionBudgets, {
        metadata: here(name),
        spec: { minAvailable: 1, selector: { matchLabels: { app } } },
      });
      await allow(name, allowed);
    },
    allow,
    async addReplicaSet(name, deployment) {
      const labels = { app: name };
      await client.create(replicaSets, {
        metadata: { ...here(name), ownerReferences: ownerReferences({ kind: 'Deployment', name: deployment }) },
        spec: {
          replicas: 0,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'registry.example.com/c' }] } },
        },
      });
    },
    eventsOf: (node) =>
      all(client.list(events, { namespace: 'default', fieldSelector: `involvedObject.name=${node}` })),
    async endPods(names) {
      for (const { metadata } of await allPods()) {
        const isMeant = names === undefined || names.includes(metadata.name);
        if (isMeant && metadata.deletionTimestamp !== undefined) await end(metadata.name);
      }
    },
    async clear() {
      for (const { metadata } of await allPods()) await end(metadata.name);
      for (const { metadata } of await all(client.list(podDisruptionBudgets, { namespace })))
        await client.delete(podDisruptionBudgets, here(metadata.name), {});
      for (const { metadata } of await all(client.list(nodes))) await client.delete(nodes, { name: metadata.name }, {});
    },
    async stop() {
      await client.transport.close();
      await controlPlane.stop();
    },
  };
}
