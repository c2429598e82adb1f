import { defaultNamespace, machineConfigNodes, type Node, nodes } from '@slipway/api';
import { machineConfigNodesController } from '@slipway/controllers';
import {
  type Client,
  createClient,
  createManager,
  createMetrics,
  createRecorder,
  createTransport,
  loadKubeconfig,
  type KubeObject,
  type Resource,
  silentLog,
  type Stored,
} from '@slipway/kube';
import type { ControlPlane } from '@slipway/tools/controlplane';
import { vi } from 'vitest';
import { startInstalledControlPlane } from '../installed-control-plane.ts';
import { operator } from '../operator.ts';

export const pods: Resource<KubeObject & { spec: object }> = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  namespaced: true,
};

const daemonAccount = 'machine-config-daemon';

export const until = <T>(ask: () => Promise<T> | T): Promise<T> => vi.waitFor(ask, { timeout: 20_000, interval: 50 });

/** A cluster with Slipway installed, two worker nodes, and everybody who might write to them. */
export interface Machines {
  admin: Client;
  /** Our controllers. */
  operator: Client;
  breakGlass: Client;
  /** By pods on the node, with tokens as kubelets give them to pods. */
  daemonOf(node: string): Client;
  /** By the certificate of the kubelet. */
  kubeletOf(node: string): Client;
  /** The kubelet of node c, which has not joined yet. */
  joining: Client;
  /** The ServiceAccount of the daemons by a token that is bound to no pod. */
  unboundDaemon: Client;
  /** The user of the daemons, and whatever rights there are: what is left are the policies. */
  mightyDaemon: Client;
  stop(): Promise<void>;
}

export const workerNode = (name: string, annotations: Record<string, string> = {}): Node => ({
  metadata: { name, labels: { 'node-role.kubernetes.io/worker': '' }, annotations },
});

export async function startMachines(names: readonly string[]): Promise<Machines> {
  const controlPlane = await startInstalledControlPlane();
  const closing: (() => Promise<void>)[] = [() => controlPlane.stop()];
  const stop = async (): Promise<void> => {
    for (const close of closing.splice(0).toReversed()) await close();
  };
  try {
    return { ...(await connectAll(controlPlane, names, closing)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function connectAll(
  controlPlane: ControlPlane,
  names: readonly string[],
  closing: (() => Promise<void>)[],
): Promise<Omit<Machines, 'stop'>> {
  const access = await loadKubeconfig([controlPlane.kubeconfig]);
  const connect = (credentials = access.credentials): Client => {
    const client = createClient(createTransport({ ...access, credentials }));
    closing.push(() => client.transport.close());
    return client;
  };
  const byCertificate = async (user: string, groups: string[], name: string): Promise<Client> =>
    connect((await loadKubeconfig([await controlPlane.kubeconfigFor({ user, groups, name })])).credentials);
  const byToken = (token: string): Client =>
    connect({ source: 'a token', current: async () => ({ token }), refresh: async () => {} });

  const admin = connect();
  const controllers = await byCertificate(operator.user, operator.groups, operator.name);
  const manager = createManager({
    client: controllers,
    controllers: [machineConfigNodesController()],
    events: createRecorder(controllers, { component: 'slipway-test', log: silentLog() }),
    log: silentLog(),
    metrics: createMetrics(),
    stopBoundMs: 0,
  });
  manager.start();
  closing.push(() => manager.stop());

  const daemons = new Map<string, Client>();
  const kubelets = new Map<string, Client>();
  for (const name of names) {
    await admin.create(nodes, workerNode(name));
    daemons.set(name, byToken(await tokenOfPodOn(admin, name)));
    kubelets.set(name, await byCertificate(`system:node:${name}`, ['system:nodes'], `kubelet-${name}`));
  }
  for (const name of names) await until(() => admin.get(machineConfigNodes, { name }));
  return {
    admin,
    operator: controllers,
    breakGlass: await byCertificate('on-call', ['slipway:break-glass', 'system:masters'], 'on-call'),
    daemonOf: (name) => known(daemons, name),
    kubeletOf: (name) => known(kubelets, name),
    joining: await byCertificate('system:node:c', ['system:nodes'], 'kubelet-c'),
    unboundDaemon: byToken(await requestToken(admin, undefined)),
    mightyDaemon: await byCertificate(
      `system:serviceaccount:${defaultNamespace}:${daemonAccount}`,
      [`system:serviceaccounts:${defaultNamespace}`, 'system:masters'],
      'mighty-daemon',
    ),
  };
}

function known(clients: ReadonlyMap<string, Client>, name: string): Client {
  const client = clients.get(name);
  if (client === undefined) throw new Error(`no machine ${name}`);
  return client;
}

/** As a DaemonSet makes it; nothing runs it, but the API server knows where it is. */
async function tokenOfPodOn(admin: Client, nodeName: string): Promise<string> {
  const pod = await admin.create(pods, {
    metadata: { name: `${daemonAccount}-${nodeName}`, namespace: defaultNamespace },
    spec: {
      nodeName,
      serviceAccountName: daemonAccount,
      containers: [{ name: 'daemon', image: 'registry.example.com/slipway' }],
    },
  });
  return requestToken(admin, pod);
}

async function requestToken(admin: Client, pod: Stored<KubeObject> | undefined): Promise<string> {
  const boundObjectRef = pod && { apiVersion: 'v1', kind: 'Pod', name: pod.metadata.name, uid: pod.metadata.uid };
  const answer = (await admin.transport.json({
    method: 'POST',
    path: `/api/v1/namespaces/${defaultNamespace}/serviceaccounts/${daemonAccount}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { boundObjectRef } },
    what: 'ask for a token',
    retry: 'never',
  })) as { status: { token: string } };
  return answer.status.token;
}
