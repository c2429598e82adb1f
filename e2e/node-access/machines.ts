import { DEFAULT_NAMESPACE, machineConfigNodes, nodes } from '@slipway/api';
import { machineConfigNodesController } from '@slipway/controllers';
import type { Client, KubeObject, Resource, Stored } from '@slipway/kube';
import { node } from '@slipway/testing/builders';
import { breakGlass, startTestCluster } from '@slipway/testing/control-plane';
import { runControllers } from '@slipway/testing/run-controllers';
import { until } from '@slipway/testing/wait';

const DAEMON_ACCOUNT = 'machine-config-daemon';
/** What our own type of pods leaves out is in them too. */
const daemonPods: Resource<KubeObject & { spec: object }> = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  namespaced: true,
};

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

export async function startMachines(names: readonly string[]): Promise<Machines> {
  const cluster = await startTestCluster();
  const { admin, operator, clientFor, clientWithToken } = cluster;
  const controllers = runControllers(operator, [machineConfigNodesController()]);
  const stop = async (): Promise<void> => {
    await controllers.stop();
    await cluster.stop();
  };
  const kubelet = (name: string): Promise<Client> =>
    clientFor({ user: `system:node:${name}`, groups: ['system:nodes'], name: `kubelet-${name}` });

  try {
    const daemons = new Map<string, Client>();
    const kubelets = new Map<string, Client>();
    for (const name of names) {
      await admin.create(nodes, node(name));
      daemons.set(name, await clientWithToken(await tokenOfPodOn(admin, name)));
      kubelets.set(name, await kubelet(name));
    }
    for (const name of names) await until(() => admin.get(machineConfigNodes, { name }));
    return {
      admin,
      operator,
      breakGlass: await clientFor(breakGlass),
      daemonOf: (name) => known(daemons, name),
      kubeletOf: (name) => known(kubelets, name),
      joining: await kubelet('c'),
      unboundDaemon: await clientWithToken(await requestToken(admin, undefined)),
      mightyDaemon: await clientFor({
        user: `system:serviceaccount:${DEFAULT_NAMESPACE}:${DAEMON_ACCOUNT}`,
        groups: [`system:serviceaccounts:${DEFAULT_NAMESPACE}`, 'system:masters'],
        name: 'mighty-daemon',
      }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function known(clients: ReadonlyMap<string, Client>, name: string): Client {
  const client = clients.get(name);
  if (client === undefined) throw new Error(`no machine ${name}`);
  return client;
}

/** As a DaemonSet makes it; nothing runs it, but the API server knows where it is. */
async function tokenOfPodOn(admin: Client, nodeName: string): Promise<string> {
  const pod = await admin.create(daemonPods, {
    metadata: { name: `${DAEMON_ACCOUNT}-${nodeName}`, namespace: DEFAULT_NAMESPACE },
    spec: {
      nodeName,
      serviceAccountName: DAEMON_ACCOUNT,
      containers: [{ name: 'daemon', image: 'registry.example.com/slipway' }],
    },
  });
  return requestToken(admin, pod);
}

async function requestToken(admin: Client, pod: Stored<KubeObject> | undefined): Promise<string> {
  const boundObjectRef = pod && { apiVersion: 'v1', kind: 'Pod', name: pod.metadata.name, uid: pod.metadata.uid };
  const answer = (await admin.transport.json({
    method: 'POST',
    path: `/api/v1/namespaces/${DEFAULT_NAMESPACE}/serviceaccounts/${DAEMON_ACCOUNT}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { boundObjectRef } },
    what: 'ask for a token',
    retry: 'never',
  })) as { status: { token: string } };
  return answer.status.token;
}
