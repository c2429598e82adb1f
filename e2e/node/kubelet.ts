// What the kubelet and the disruption controller would do, for nodes that have neither: a stand-in, as small as it can be.
import { namespaces, nodes, podDisruptionBudgets, pods } from '@slipway/api';
import type { Client, Name, Resource } from '@slipway/kube';

/** The node reports, and has no trouble. */
export async function reportReady(
  client: Client,
  name: string,
  osImage = 'Debian GNU/Linux 13 (trixie)',
): Promise<void> {
  const at = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'KubeletReady',
    message: '',
    lastTransitionTime: at,
    lastHeartbeatTime: at,
  };
  const patch = { type: 'strategic', body: { status: { conditions: [ready], nodeInfo: { osImage } } } } as const;
  await client.patch(nodes, { name }, patch, {}, { subresource: 'status' });
}

/** A pod that runs on a node, without anybody who runs it. */
export async function addPod(
  client: Client,
  name: Name,
  nodeName: string,
  labels: Record<string, string>,
): Promise<void> {
  await client.create(pods, {
    metadata: { ...name, labels },
    spec: { nodeName, containers: [{ name: 'web', image: 'registry.example.com/web' }] },
  });
  const ready = { type: 'Ready', status: 'True' };
  const patch = { type: 'merge', body: { status: { phase: 'Running', conditions: [ready] } } } as const;
  await client.patch(pods, name, patch, {}, { subresource: 'status' });
}

/** Ends a pod that was told to go, as the kubelet does when its containers have ended. */
export async function endPod(client: Client, name: Name): Promise<void> {
  await client.delete(pods, name, {}, { gracePeriodSeconds: 0 });
}

export async function addBudget(
  client: Client,
  name: Name,
  labels: Record<string, string>,
  allowed: number,
): Promise<void> {
  await client.create(podDisruptionBudgets, {
    metadata: name,
    spec: { minAvailable: 1, selector: { matchLabels: labels } },
  });
  await allowDisruptions(client, name, allowed);
}

/** As the disruption controller counts. */
export async function allowDisruptions(client: Client, name: Name, allowed: number): Promise<void> {
  const { generation = 1 } = (await client.get(podDisruptionBudgets, name)).metadata;
  const status = {
    observedGeneration: generation,
    disruptionsAllowed: allowed,
    currentHealthy: 1 + allowed,
    desiredHealthy: 1,
    expectedPods: 1 + allowed,
  };
  await client.patch(podDisruptionBudgets, name, { type: 'merge', body: { status } }, {}, { subresource: 'status' });
}

const serviceAccounts: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};

/** With the account that pods run as, which a controller of Kubernetes makes elsewhere. */
export async function addNamespace(client: Client, name: string): Promise<void> {
  await client.create(namespaces, { metadata: { name } });
  await client.create(serviceAccounts, { metadata: { namespace: name, name: 'default' } });
}
