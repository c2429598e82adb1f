// Whose a pod is, in the words of the person who made it: the Deployment, not its ReplicaSet.
import type { PodFacts } from '@slipway/fleet/drain';
import { type Client, isKubeError, type KubeObject, type Resource } from '@slipway/kube';

const replicaSets: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  namespaced: true,
};

/** '' for a pod that nobody makes a new one of. */
export async function ownerOf({ namespace, owner }: PodFacts, client: Client, signal: AbortSignal): Promise<string> {
  if (owner === null) return '';
  const own = `${owner.kind} ${owner.name}`;
  if (owner.kind !== 'ReplicaSet' || !owner.apiVersion.startsWith('apps/')) return own;
  try {
    const set: KubeObject | undefined = await client.find(replicaSets, { namespace, name: owner.name }, { signal });
    const maker = set?.metadata.ownerReferences?.find(({ controller }) => controller === true);
    return maker === undefined ? own : `${maker.kind} ${maker.name}`;
  } catch (error) {
    // It is only a name for people: the ReplicaSet's own will do.
    if (isKubeError(error)) return own;
    throw error;
  }
}
