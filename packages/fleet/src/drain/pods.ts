// What of a pod decides whether and how it leaves a node.
import type { OwnerReference, Pod, PodDisruptionBudget } from '@slipway/api';
import type { Stored } from '../kube-object.ts';
import { matchesSelector } from '../render/select.ts';

export interface PodFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Who makes a new one of it; null: nobody. */
  readonly owner: PodOwner | null;
  /** When its time to end is over, in milliseconds; null: it was not told to end. */
  readonly endsAt: number | null;
  readonly finalizers: readonly string[];
}

export type PodOwner = Pick<OwnerReference, 'apiVersion' | 'kind' | 'name'>;

/** Null: a drain leaves it where it is. */
export function readPodFacts(pod: Stored<Pod>): PodFacts | null {
  const { namespace = '', name, uid, labels = {}, deletionTimestamp, finalizers = [] } = pod.metadata;
  const owner = ownerIn(pod);
  if (isLeft(pod, owner)) return null;
  return {
    namespace,
    name,
    uid,
    labels,
    owner,
    // The API server has added the pod's grace period to it.
    endsAt: deletionTimestamp === undefined ? null : Date.parse(deletionTimestamp),
    finalizers,
  };
}

function ownerIn({ metadata }: Pod): PodOwner | null {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner === undefined ? null : { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.name };
}

function isLeft({ metadata, status }: Pod, owner: PodOwner | null): boolean {
  // The node's own: the API server only shows what the kubelet reads from a file.
  const isMirror = metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;
  const isFinished = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  // A DaemonSet would put a new one on the same node at once, cordoned or not.
  return isMirror || isFinished || owner?.kind === 'DaemonSet';
}

// The PodDisruptionBudgets that have a say about a pod.

/** Those of its namespace that select it, by name. */
export function findBudgets(
  { namespace, labels }: Pick<PodFacts, 'namespace' | 'labels'>,
  budgets: Iterable<PodDisruptionBudget>,
): PodDisruptionBudget[] {
  return [...budgets]
    .filter(({ metadata, spec }) => metadata.namespace === namespace && matchesSelector(spec?.selector, labels))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

export type BudgetLookup = (pod: PodFacts) => PodDisruptionBudget[];

/** All that the API server decides an eviction by: while it is the same, so is the answer. */
export function fingerprintBudgets(budgets: readonly PodDisruptionBudget[]): string {
  return JSON.stringify(
    budgets.map(({ metadata, status = {} }) => [
      metadata.uid,
      metadata.generation,
      status.observedGeneration,
      status.disruptionsAllowed,
      status.currentHealthy,
      status.desiredHealthy,
    ]),
  );
}

/** What of a budget is looked at; its status lists pods by the thousand. */
export function keepWhatDecides({ metadata, spec, status }: Stored<PodDisruptionBudget>): Stored<PodDisruptionBudget> {
  const { name, namespace, uid, resourceVersion, generation } = metadata;
  const { observedGeneration, disruptionsAllowed, currentHealthy, desiredHealthy } = status ?? {};
  return {
    metadata: {
      name,
      uid,
      resourceVersion,
      ...(namespace !== undefined && { namespace }),
      ...(generation !== undefined && { generation }),
    },
    ...(spec !== undefined && { spec }),
    status: {
      ...(observedGeneration !== undefined && { observedGeneration }),
      ...(disruptionsAllowed !== undefined && { disruptionsAllowed }),
      ...(currentHealthy !== undefined && { currentHealthy }),
      ...(desiredHealthy !== undefined && { desiredHealthy }),
    },
  };
}
