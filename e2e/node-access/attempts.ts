// What a machine might try on node a with what it has: each is refused, and the row says by whom.
import {
  DEFAULT_NAMESPACE,
  type MachineConfigNode,
  machineConfigNodes,
  machineConfigPools,
  machineConfigs,
  machineConfigurations,
  nodeAnnotations,
  nodes,
  pods,
  secrets,
} from '@slipway/api';
import type { Client, KubeObject, Resource } from '@slipway/kube';
import { node } from '@slipway/testing/builders';
import { events } from '@slipway/testing/resources';

/** One of our policies by its name, the API server's own plugin for kubelets, or its permissions. */
export type Door = `${string}-guards` | 'NodeRestriction' | 'permissions';

export interface Attempt {
  what: string;
  door: Door;
  attempt: (client: Client) => Promise<unknown>;
}

export const rendered = `rendered-worker-${'0'.repeat(32)}`;
const masters = `rendered-master-${'f'.repeat(32)}`;

export const eventIn = (namespace: string) => ({
  metadata: { name: 'a.17', namespace },
  involvedObject: { apiVersion: 'v1', kind: 'Node', name: 'a', ...(namespace !== 'default' && { namespace }) },
  type: 'Normal',
  reason: 'NodeDone',
  message: 'for this test',
});

export function merge<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  name: string,
  body: object,
  subresource?: 'status',
): Promise<unknown> {
  return client.patch(resource, { name }, { type: 'merge', body }, {}, { subresource });
}

export const annotate = (
  client: Client,
  name: string,
  annotations: Record<string, string | null>,
  subresource?: 'status',
): Promise<unknown> => merge(client, nodes, name, { metadata: { annotations } }, subresource);

export const setLabel = (client: Client, name: string, label = 'example.com/rack'): Promise<unknown> =>
  merge(client, nodes, name, { metadata: { labels: { [label]: 'x' } } });

const updated = {
  type: 'Updated',
  status: 'True',
  reason: 'Updated',
  message: '',
  lastTransitionTime: '2026-01-02T03:04:05Z',
} as const;

export const setStatus = (client: Client, name: string): Promise<unknown> =>
  merge(client, machineConfigNodes, name, { status: { conditions: [updated] } }, 'status');

export const buildRecord = (name: string): MachineConfigNode => ({
  metadata: { name },
  spec: { node: { name }, pool: { name: 'worker' }, configVersion: { desired: rendered } },
});

export async function watch(client: Client, path: string): Promise<void> {
  const stream = await client.transport.open({
    method: 'GET',
    path,
    query: { watch: 'true' },
    what: `watch ${path}`,
    retry: 'never',
  });
  stream.destroy();
}

/** What only controllers write on a Node. */
const controllersAnnotations = [
  nodeAnnotations.desiredConfig,
  nodeAnnotations.lastAppliedDrain,
  // Only for images that are built in the cluster, so no client needs to write them.
  'machineconfiguration.openshift.io/currentImage',
  'machineconfiguration.openshift.io/desiredImage',
  'machineconfiguration.openshift.io/anything-else',
  'slipway.dev/anything',
];

function aiming(through?: 'status'): Attempt[] {
  const way = through === undefined ? '' : ' through the status';
  const door = 'node-guards';
  const write = (what: string, annotations: Record<string, string | null>): Attempt => ({
    what: `${what}${way}`,
    door,
    attempt: (client) => annotate(client, 'a', annotations, through),
  });
  return [
    ...controllersAnnotations.map((name) => write(`write ${name}`, { [name]: masters })),
    write('remove desiredConfig', { [nodeAnnotations.desiredConfig]: null }),
    write('write desiredConfig beside what it may write', {
      [nodeAnnotations.state]: 'Working',
      [nodeAnnotations.desiredConfig]: masters,
    }),
  ];
}

const byPermissions = (what: string, attempt: Attempt['attempt']): Attempt => ({ what, door: 'permissions', attempt });
const byNodeGuards = (what: string, attempt: Attempt['attempt']): Attempt => ({ what, door: 'node-guards', attempt });

const reading: Attempt[] = [
  byPermissions('list MachineConfigs', (client) => client.list(machineConfigs).next()),
  byPermissions('watch MachineConfigs', (client) =>
    watch(client, '/apis/machineconfiguration.openshift.io/v1/machineconfigs'),
  ),
  byPermissions('list Secrets', (client) => client.list(secrets, { namespace: DEFAULT_NAMESPACE }).next()),
  byPermissions('watch Secrets', (client) => watch(client, '/api/v1/secrets')),
  byPermissions('get a Secret', (client) => client.get(secrets, { namespace: DEFAULT_NAMESPACE, name: 'pull-secret' })),
];

const ourKinds: Attempt[] = [
  byPermissions('make a MachineConfig', (client) => client.create(machineConfigs, { metadata: { name: '99-mine' } })),
  byPermissions('make a rendered MachineConfig', (client) =>
    client.create(machineConfigs, { metadata: { name: masters } }),
  ),
  byPermissions('change a rendered MachineConfig', (client) =>
    merge(client, machineConfigs, rendered, { spec: { fips: true } }),
  ),
  byPermissions('delete a rendered MachineConfig', (client) => client.delete(machineConfigs, { name: rendered }, {})),
  byPermissions('change a pool', (client) => merge(client, machineConfigPools, 'worker', { spec: { paused: true } })),
  byPermissions('change the settings of the fleet', (client) =>
    client.create(machineConfigurations, { metadata: { name: 'cluster' }, spec: {} }),
  ),
  byPermissions('make a MachineConfigNode', (client) => client.create(machineConfigNodes, buildRecord('c'))),
  byPermissions('change the spec of its MachineConfigNode', (client) =>
    merge(client, machineConfigNodes, 'a', { spec: { configVersion: { desired: masters } } }),
  ),
  byPermissions('change the owner of its MachineConfigNode', (client) =>
    merge(client, machineConfigNodes, 'a', { metadata: { ownerReferences: null } }),
  ),
  byPermissions('delete its MachineConfigNode', (client) => client.delete(machineConfigNodes, { name: 'a' }, {})),
];

const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: '00000000-0000-0000-0000-000000000000' };

/** With the token of the daemon's pod on node a. */
export const ofDaemon: Attempt[] = [
  ...aiming(),
  byNodeGuards('write an annotation of somebody else', (client) => annotate(client, 'a', { 'example.com/x': 'x' })),
  byNodeGuards('write a label', (client) => setLabel(client, 'a')),
  byNodeGuards('take the role of a master', (client) => setLabel(client, 'a', 'node-role.kubernetes.io/master')),
  byNodeGuards('write a taint', (client) =>
    merge(client, nodes, 'a', { spec: { taints: [{ key: 'example.com/x', effect: 'NoSchedule' }] } }),
  ),
  byNodeGuards('cordon itself', (client) => merge(client, nodes, 'a', { spec: { unschedulable: true } })),
  byNodeGuards('write its provider ID', (client) => merge(client, nodes, 'a', { spec: { providerID: 'x://1' } })),
  byNodeGuards('write owners', (client) => merge(client, nodes, 'a', { metadata: { ownerReferences: [owner] } })),
  byNodeGuards('write a finalizer', (client) =>
    merge(client, nodes, 'a', { metadata: { finalizers: ['example.com/x'] } }),
  ),
  byPermissions('write the status of its Node', (client) =>
    merge(client, nodes, 'a', { status: { capacity: { cpu: '1000' } } }, 'status'),
  ),
  byPermissions('make a Node', (client) => client.create(nodes, node('c'))),
  byPermissions('delete its Node', (client) => client.delete(nodes, { name: 'a' }, {})),
  byPermissions('evict a pod', (client) =>
    client.evict({ namespace: DEFAULT_NAMESPACE, name: 'machine-config-daemon-a' }, {}),
  ),
  byPermissions('list pods', (client) => client.list(pods, { namespace: DEFAULT_NAMESPACE }).next()),
  byPermissions('write an event about what is in a namespace', (client) =>
    client.create(events, eventIn(DEFAULT_NAMESPACE)),
  ),
  ...reading,
  ...ourKinds,
];

/** With the certificate of node a's kubelet. */
export const ofKubelet: Attempt[] = [
  ...aiming(),
  ...aiming('status'),
  byNodeGuards('write a label of ours', (client) => setLabel(client, 'a', 'slipway.dev/anything')),
  {
    what: 'take the role of a master',
    door: 'NodeRestriction',
    attempt: (client) => setLabel(client, 'a', 'node-role.kubernetes.io/master'),
  },
  ...reading,
  ...ourKinds,
];

/** From another machine, with whatever it has. */
export const onOthers: Omit<Attempt, 'door'>[] = [
  ...[...controllersAnnotations, ...Object.values(nodeAnnotations)].map((name) => ({
    what: `write ${name} of Node a`,
    attempt: (client: Client) => annotate(client, 'a', { [name]: masters }),
  })),
  {
    what: 'write state of Node a through the status',
    attempt: (client) => annotate(client, 'a', { [nodeAnnotations.state]: 'Done' }, 'status'),
  },
  { what: 'write a label of Node a', attempt: (client) => setLabel(client, 'a') },
  {
    what: 'cordon Node a',
    attempt: (client) => merge(client, nodes, 'a', { spec: { unschedulable: true } }),
  },
  {
    what: 'write the status of Node a',
    attempt: (client) => merge(client, nodes, 'a', { status: { capacity: { cpu: '1000' } } }, 'status'),
  },
  { what: 'delete Node a', attempt: (client) => client.delete(nodes, { name: 'a' }, {}) },
  { what: 'write the status of MachineConfigNode a', attempt: (client) => setStatus(client, 'a') },
  {
    what: 'change the spec of MachineConfigNode a',
    attempt: (client) => merge(client, machineConfigNodes, 'a', { spec: { pool: { name: 'master' } } }),
  },
  { what: 'delete MachineConfigNode a', attempt: (client) => client.delete(machineConfigNodes, { name: 'a' }, {}) },
];
