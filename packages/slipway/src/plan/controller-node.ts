// The node that the controllers run on: it is the last to have its turn.
import { pods } from '@slipway/api';
import { type Client, isKubeError, type KubeObject, type Resource } from '@slipway/kube';

const leases: Resource<KubeObject & { spec?: { holderIdentity?: string } }> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

/** Null: nobody leads, or not on a node, or one may not look. Then the order of turns may differ by this one node. */
export async function controllerNode(
  client: Client,
  namespace: string,
  nodeNames: ReadonlySet<string>,
): Promise<string | null> {
  try {
    const host = await leadersHost(client, namespace);
    return nodeNames.has(host) ? host : await nodeOfPod(client, namespace, host);
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_FORBIDDEN')) throw error;
    return null;
  }
}

/** The leader signs with the name of its host: its pod, or with the host's network the node. '' where nobody leads. */
async function leadersHost(client: Client, namespace: string): Promise<string> {
  const lease = await client.find(leases, { namespace, name: 'slipway-controllers' });
  return lease?.spec?.holderIdentity?.split('_')[0] ?? '';
}

async function nodeOfPod(client: Client, namespace: string, name: string): Promise<string | null> {
  if (name === '') return null;
  return (await client.find(pods, { namespace, name }))?.spec?.nodeName ?? null;
}
