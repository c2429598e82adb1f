// Evicts pods through the API server, which enforces their PodDisruptionBudgets.
import { mapLimit } from '@slipway/base/concurrency';
import type { PodFacts } from '@slipway/fleet/drain';
import { type Client, isKubeError, type KubeObject, type Resource } from '@slipway/kube';
import { computeRetryDelay, STUCK_AFTER_MS } from './intervals.ts';

export interface RefusedPod {
  readonly pod: PodFacts;
  /** False: refused for another reason than a budget. */
  readonly byBudget: boolean;
  /** The API server's message. */
  readonly message: string;
}

const MAX_CONCURRENT_EVICTIONS = 10;

export interface EvictOptions {
  readonly client: Client;
  readonly signal: AbortSignal;
  /** How many budgets select a pod. */
  countBudgets(this: void, pod: PodFacts): number;
}

/** Returns the refused pods. Rejects if the API server is unavailable; some pods may have been evicted by then. */
export async function evictPods(pods: readonly PodFacts[], options: EvictOptions): Promise<RefusedPod[]> {
  const answers = await mapLimit(pods, MAX_CONCURRENT_EVICTIONS, (pod) => evict(pod, options));
  return answers.filter((refusal) => refusal !== null);
}

/** Null: the pod is terminating, or gone. */
async function evict(pod: PodFacts, { client, signal, countBudgets }: EvictOptions): Promise<RefusedPod | null> {
  const { namespace, name, uid } = pod;
  try {
    await client.evict({ namespace, name }, { uid }, { signal });
    return null;
  } catch (error) {
    // A conflict: another pod has that name. The next attempt finds it if it is on this node.
    if (isKubeError(error, 'SLW_KUBE_NOT_FOUND', 'SLW_KUBE_CONFLICT')) return null;
    if (!isKubeError(error)) throw error;
    const { code, status, message } = error;
    // The API server responds with an internal error for a pod that two budgets select.
    const byBudget = code === 'SLW_KUBE_BLOCKED' || (status === 500 && countBudgets(pod) > 1);
    if (byBudget || code === 'SLW_KUBE_FORBIDDEN' || code === 'SLW_KUBE_INVALID') return { pod, byBudget, message };
    throw error;
  }
}

// Which pods of a node to evict now, and which to wait for.

/** An eviction that the API server refused. */
export interface Refusal extends RefusedPod {
  readonly at: number;
  /** The pod's budgets right before the eviction, see `fingerprintBudgets`. */
  readonly budgets: string;
}

export interface SortedPods {
  readonly evict: readonly PodFacts[];
  /** Terminating. */
  readonly leaving: readonly PodFacts[];
  /** Terminating for too long. */
  readonly stuck: readonly PodFacts[];
  /** Refused, and a retry would change nothing yet. */
  readonly held: readonly Refusal[];
}

export interface SortRequest {
  readonly pods: readonly PodFacts[];
  /** By pod UID. */
  readonly refused: ReadonlyMap<string, Refusal>;
  readonly since: number;
  readonly now: number;
  /** The current budgets of a pod. */
  budgetsNow(this: void, pod: PodFacts): string;
}

export function sortPods({ pods, refused, since, now, budgetsNow }: SortRequest): SortedPods {
  const sorted = {
    evict: new Array<PodFacts>(),
    leaving: new Array<PodFacts>(),
    stuck: new Array<PodFacts>(),
    held: new Array<Refusal>(),
  };
  for (const pod of pods) {
    const refusal = refused.get(pod.uid);
    if (pod.endsAt !== null) sorted[now > pod.endsAt + STUCK_AFTER_MS ? 'stuck' : 'leaving'].push(pod);
    else if (refusal === undefined || now >= computeRetryTime(refusal, since)) sorted.evict.push(pod);
    else if (refusal.budgets === budgetsNow(pod)) sorted.held.push(refusal);
    else sorted.evict.push(pod);
  }
  return sorted;
}

/** When to retry a refused pod even if no budget changed. */
export const computeRetryTime = ({ at }: Refusal, since: number): number => at + computeRetryDelay(at - since);

// The owner that users know: the Deployment, not its ReplicaSet.

const replicaSets: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  namespaced: true,
};

/** '' for a pod that no controller recreates. */
export async function findOwnerName(
  { namespace, owner }: PodFacts,
  client: Client,
  signal: AbortSignal,
): Promise<string> {
  if (owner === null) return '';
  const own = `${owner.kind} ${owner.name}`;
  if (owner.kind !== 'ReplicaSet' || !owner.apiVersion.startsWith('apps/')) return own;
  try {
    const set: KubeObject | undefined = await client.find(replicaSets, { namespace, name: owner.name }, { signal });
    const maker = set?.metadata.ownerReferences?.find(({ controller }) => controller === true);
    return maker === undefined ? own : `${maker.kind} ${maker.name}`;
  } catch (error) {
    // Only for display: the ReplicaSet's name is good enough.
    if (isKubeError(error)) return own;
    throw error;
  }
}
