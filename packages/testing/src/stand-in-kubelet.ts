// Minimal stand-ins for kubelets, daemons, the disruption controller and the namespace controllers, for nodes and
// clusters that have none.
import { namespaces, type Node, nodeAnnotations, nodes, type Pod, podDisruptionBudgets, pods } from '@slipway/api';
import type { Client, Name } from '@slipway/kube';
import { removeIfThere, serviceAccounts } from './resources.ts';

/** Formats a time for the API, in whole seconds. */
export const timestamp = (date = new Date()): string => date.toISOString().replace(/\.\d+Z$/, 'Z');

export const readyCondition = (isReady = true) => {
  const at = timestamp();
  return {
    type: 'Ready',
    status: isReady ? 'True' : 'False',
    reason: isReady ? 'KubeletReady' : 'KubeletNotReady',
    message: '',
    lastTransitionTime: at,
    lastHeartbeatTime: at,
  };
};

/** Reports as a kubelet does. `nodeInfo` is added to its description of the machine. */
export async function reportReady(
  client: Client,
  name: string,
  { isReady = true, nodeInfo = {} }: { isReady?: boolean; nodeInfo?: object } = {},
): Promise<void> {
  const body = { status: { conditions: [readyCondition(isReady)], nodeInfo: { ...DEFAULT_NODE_INFO, ...nodeInfo } } };
  await client.patch(nodes, { name }, { type: 'strategic', body }, {}, { subresource: 'status' });
}

/** The API requires all of them. */
const DEFAULT_NODE_INFO = {
  architecture: 'amd64',
  bootID: '',
  containerRuntimeVersion: '',
  kernelVersion: '',
  kubeProxyVersion: '',
  kubeletVersion: '',
  machineID: '',
  operatingSystem: 'linux',
  osImage: 'Debian GNU/Linux 13 (trixie)',
  systemUUID: '',
};

/** A node whose kubelet reports Ready. */
export async function addReadyNode(client: Client, object: Node, nodeInfo: object = {}): Promise<void> {
  await client.create(nodes, object);
  await reportReady(client, object.metadata.name, { nodeInfo });
}

/** Reports, as the daemon, that the node has reached its desired config. */
export async function obeyDesiredConfig(client: Client, name: string): Promise<void> {
  const { annotations = {} } = (await client.get(nodes, { name })).metadata;
  const { currentConfig, desiredConfig, state } = nodeAnnotations;
  const desired = annotations[desiredConfig];
  if (desired === undefined || desired === annotations[currentConfig]) return;
  const body = { metadata: { annotations: { [currentConfig]: desired, [state]: 'Done' } } };
  await client.patch(nodes, { name }, { type: 'merge', body }, {});
}

export interface PodOptions {
  readonly metadata?: Partial<Pod['metadata']>;
  readonly phase?: string;
}

/** A pod on a node, without any process. */
export async function addPod(
  client: Client,
  name: Name,
  nodeName: string,
  { metadata = {}, phase = 'Running' }: PodOptions = {},
): Promise<void> {
  await client.create(pods, {
    metadata: { ...metadata, ...name },
    spec: { nodeName, containers: [{ name: 'web', image: 'registry.example.com/web' }] },
  });
  const body = { status: { phase, conditions: [{ type: 'Ready', status: phase === 'Running' ? 'True' : 'False' }] } };
  await client.patch(pods, name, { type: 'merge', body }, {}, { subresource: 'status' });
}

/** Ends the containers of a pod that is being deleted. */
export async function endPod(client: Client, name: Name): Promise<void> {
  await removeIfThere(client, pods, name, { gracePeriodSeconds: 0 });
}

export async function addBudget(
  client: Client,
  name: Name,
  labels: Record<string, string>,
  allowed: number,
): Promise<void> {
  const spec = { minAvailable: 1, selector: { matchLabels: labels } };
  await client.create(podDisruptionBudgets, { metadata: { ...name }, spec });
  await allowDisruptions(client, name, allowed);
}

/** Counts like the disruption controller. */
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

/** With the service account that pods run as. */
export async function addNamespace(client: Client, name: string): Promise<void> {
  await client.create(namespaces, { metadata: { name } });
  await client.create(serviceAccounts, { metadata: { namespace: name, name: 'default' } });
}
