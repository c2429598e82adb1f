// The facts of a pod that decide whether and how a drain evicts it.
import type { OwnerReference, Pod, PodDisruptionBudget } from '@slipway/api';
import type { Stored } from '../kube-object.ts';
import { matchesSelector } from '../render/select.ts';

export interface PodFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The controller that replaces it; null: none. */
  readonly owner: PodOwner | null;
  /** When its grace period ends, in milliseconds; null: it is not being deleted. */
  readonly endsAt: number | null;
  readonly finalizers: readonly string[];
}

export type PodOwner = Pick<OwnerReference, 'apiVersion' | 'kind' | 'name'>;

/** Null: a drain ignores it. */
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
    // The API server has already added the grace period.
    endsAt: deletionTimestamp === undefined ? null : Date.parse(deletionTimestamp),
    finalizers,
  };
}

function ownerIn({ metadata }: Pod): PodOwner | null {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner === undefined ? null : { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.name };
}

function isLeft({ metadata, status }: Pod, owner: PodOwner | null): boolean {
  // A static pod: the API object only mirrors what the kubelet reads from a file.
  const isMirror = metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;
  const isFinished = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  // A DaemonSet would immediately recreate it on the same node, cordoned or not.
  return isMirror || isFinished || owner?.kind === 'DaemonSet';
}

// The PodDisruptionBudgets that apply to a pod.

/** The budgets of its namespace that select it, by name. */
export function findBudgets(
  { namespace, labels }: Pick<PodFacts, 'namespace' | 'labels'>,
  budgets: Iterable<PodDisruptionBudget>,
): PodDisruptionBudget[] {
  return [...budgets]
    .filter(({ metadata, spec }) => metadata.namespace === namespace && matchesSelector(spec?.selector, labels))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

export type BudgetLookup = (pod: PodFacts) => PodDisruptionBudget[];

/** Everything that the API server considers for an eviction: unless it changes, a retry is refused again. */
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

/** Only the fields that matter: the status of a budget can list thousands of pods. */
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
