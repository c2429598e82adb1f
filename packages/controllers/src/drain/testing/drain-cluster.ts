// Nodes with pods on a real API server. The kubelet and the disruption controller are simulated.
import { type Node, nodeAnnotations, nodes, type ObjectMeta, type Pod, podDisruptionBudgets, pods } from '@slipway/api';
import type { Client, KubeObject, Name, Resource, Stored } from '@slipway/kube';
import { operator, startTestCluster } from '@slipway/testing/control-plane';
import { type ApiEvent, clusterRoles, events, grant, listEvents, removeAll } from '@slipway/testing/resources';
import { addBudget, addNamespace, addPod, allowDisruptions, endPod } from '@slipway/testing/stand-in-kubelet';
import {
  CLUSTER_NAMESPACE,
  clusterApiMachines,
  healthChecks,
  installMachineKinds,
  MACHINE_NAMESPACE,
  machineApiMachines,
} from './machine-replacers.ts';

export interface DrainCluster {
  readonly client: Client;
  /** The same identity, without permission for Machines and MachineHealthChecks until it gets that. Once a cluster. */
  withoutPermission(): Promise<{ readonly client: Client; permit(this: void): Promise<void> }>;
  addNode(name: string, node?: { annotations?: Record<string, string>; unschedulable?: boolean }): Promise<void>;
  node(name: string): Promise<Stored<Node>>;
  /** As the daemon does: `drain-…` or `uncordon-…`. */
  ask(name: string, wish: string): Promise<void>;
  annotate(name: string, annotations: Record<string, string | null>): Promise<void>;
  /** Cordons or uncordons the node, as a user. */
  setCordoned(name: string, unschedulable: boolean): Promise<void>;
  addPod(name: string, nodeName: string, pod?: TestPodOptions): Promise<void>;
  pod(name: string): Promise<Stored<Pod> | undefined>;
  podNames(): Promise<string[]>;
  /** Selects pods with `app: name`. */
  addBudget(name: string, allowed: number, app?: string): Promise<void>;
  allow(name: string, allowed: number): Promise<void>;
  /** A ReplicaSet that belongs to a Deployment. */
  addReplicaSet(name: string, deployment: string): Promise<void>;
  eventsOf(node: string): Promise<ApiEvent[]>;
  /** Ends terminating pods, once; with `names` only those. */
  endPods(names?: readonly string[]): Promise<void>;
  /** Removes nodes, pods and budgets. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

export interface TestPodOptions {
  readonly app?: string;
  readonly phase?: string;
  readonly owner?: { readonly kind: string; readonly name: string };
  readonly annotations?: Record<string, string>;
}

const NAMESPACE = 'shop';
const here = (name: string): Name & { namespace: string } => ({ namespace: NAMESPACE, name });
const UID = '00000000-0000-0000-0000-000000000001';

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

const ownerReferences = ({
  kind,
  name,
}: {
  kind: string;
  name: string;
}): NonNullable<ObjectMeta['ownerReferences']> => [{ apiVersion: 'apps/v1', kind, name, uid: UID, controller: true }];

export async function startDrainCluster({ hasMachineKinds = true } = {}): Promise<DrainCluster> {
  const { admin, operator: client, clientFor, stop } = await startTestCluster();
  for (const name of [NAMESPACE, MACHINE_NAMESPACE, CLUSTER_NAMESPACE]) await addNamespace(client, name);
  if (hasMachineKinds) await installMachineKinds(client);
  const allPods = (): Promise<Stored<Pod>[]> => Array.fromAsync(client.list(pods, { namespace: NAMESPACE }));
  const annotate: DrainCluster['annotate'] = async (name, annotations) => {
    await client.patch(nodes, { name }, { type: 'merge', body: { metadata: { annotations } } }, {});
  };
  return {
    client,
    async withoutPermission() {
      const { user, name } = operator;
      const evictions = { ...pods, plural: 'pods/eviction' };
      await grant(admin, user, [nodes, pods, evictions, podDisruptionBudgets, events], ['*']);
      const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
      return {
        client: await clientFor({ user, groups: [], name: `${name}-without-machines` }),
        async permit() {
          await admin.patch(clusterRoles, { name: user }, { type: 'merge', body: { rules } }, {});
        },
      };
    },
    async addNode(name, { annotations = {}, unschedulable = false } = {}) {
      await client.create(nodes, { metadata: { name, annotations }, spec: { unschedulable } });
    },
    node: (name) => client.get(nodes, { name }),
    ask: (name, wish) => annotate(name, { [nodeAnnotations.desiredDrain]: wish }),
    annotate,
    async setCordoned(name, unschedulable) {
      await client.patch(nodes, { name }, { type: 'merge', body: { spec: { unschedulable } } }, {});
    },
    addPod: (name, nodeName, { app, phase = 'Running', owner, annotations = {} } = {}) =>
      addPod(client, here(name), nodeName, {
        phase,
        metadata: {
          annotations,
          ...(app !== undefined && { labels: { app } }),
          ...(owner !== undefined && { ownerReferences: ownerReferences(owner) }),
        },
      }),
    pod: (name) => client.find(pods, here(name)),
    podNames: async () => (await allPods()).map(({ metadata }) => metadata.name).sort(),
    addBudget: (name, allowed, app = name) => addBudget(client, here(name), { app }, allowed),
    allow: (name, allowed) => allowDisruptions(client, here(name), allowed),
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
    eventsOf: (node) => listEvents(client, { name: node }),
    async endPods(names) {
      for (const { metadata } of await allPods()) {
        const isMeant = names === undefined || names.includes(metadata.name);
        if (isMeant && metadata.deletionTimestamp !== undefined) await endPod(client, metadata);
      }
    },
    async clear() {
      for (const { metadata } of await allPods()) await endPod(client, metadata);
      await removeAll(client, podDisruptionBudgets, nodes, clusterApiMachines, machineApiMachines, healthChecks);
    },
    stop,
  };
}
