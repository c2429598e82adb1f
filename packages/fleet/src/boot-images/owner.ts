// Who else sets the image of a MachineSet or MachineDeployment, and would revert ours.
import type { Owner, ResourceFacts } from './facts.ts';

type OwnedResource = Pick<ResourceFacts, 'resource' | 'owners' | 'labels' | 'annotations'>;

const CLUSTER_API = 'cluster.x-k8s.io';
const TOPOLOGY_LABEL = 'topology.cluster.x-k8s.io/owned';
const CLUSTER_NAME_LABEL = 'cluster.x-k8s.io/cluster-name';
const NODE_POOL_ANNOTATION = 'hypershift.openshift.io/nodePool';

const groupOf = ({ apiVersion }: Pick<Owner, 'apiVersion'>): string =>
  apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : 'the core API';

/**
 * Cluster API's controllers set this owner on every MachineDeployment and on every MachineSet without one, so that they
 * are deleted with the cluster. It reverts nothing.
 */
export const isClusterOwner = (owner: Pick<Owner, 'apiVersion' | 'kind'>): boolean =>
  owner.kind === 'Cluster' && groupOf(owner) === CLUSTER_API;

/** It copies its template to the MachineSet, and replaces the MachineSet when the template changes. */
export const findMachineDeployment = ({ resource, owners }: OwnedResource): Owner | undefined =>
  resource.kind === 'MachineSet'
    ? owners.find((owner) => owner.kind === 'MachineDeployment' && groupOf(owner) === CLUSTER_API)
    : undefined;

/** A sentence with what to do; null: nothing on the resource shows that our change would be reverted. */
export function describeReverter({ owners, labels, annotations }: OwnedResource): string | null {
  const owner = owners.find((each) => !isClusterOwner(each));
  if (owner !== undefined)
    return `${owner.kind} ${owner.name} of ${groupOf(owner)} owns it and would revert the change. Change the image in the owner, or remove the owner reference`;
  if (labels[TOPOLOGY_LABEL] !== undefined)
    return `the topology of Cluster ${labels[CLUSTER_NAME_LABEL] ?? ''} sets its template and would revert the change. Change the image in the ClusterClass, or in spec.topology of the Cluster`;
  const nodePool = annotations[NODE_POOL_ANNOTATION];
  return nodePool === undefined
    ? null
    : `NodePool ${nodePool.slice(0, 500)} sets its template and would revert the change. Change the release of the NodePool`;
}
