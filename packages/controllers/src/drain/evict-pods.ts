// Asks the API server to evict pods; which of them may go, it decides by their budgets.
import { mapLimit } from '@slipway/base/concurrency';
import type { PodFacts } from '@slipway/fleet/drain';
import { type Client, isKubeError, type KubeObject, type Resource } from '@slipway/kube';
import { computeRetryDelay, STUCK_AFTER_MS } from './intervals.ts';

export interface RefusedPod {
  readonly pod: PodFacts;
  /** False: for another reason than its budgets. */
  readonly byBudget: boolean;
  /** The API server's words. */
  readonly message: string;
}

const MAX_CONCURRENT_EVICTIONS = 10;

export interface EvictOptions {
  readonly client: Client;
  readonly signal: AbortSignal;
  /** How many budgets select a pod. */
  countBudgets(this: void, pod: PodFacts): number;
}

/** Those that were refused. Rejects when the API server cannot be asked; some may have been evicted then. */
export async function evictPods(pods: readonly PodFacts[], options: EvictOptions): Promise<RefusedPod[]> {
  const answers = await mapLimit(pods, MAX_CONCURRENT_EVICTIONS, (pod) => evict(pod, options));
  return answers.filter((refusal) => refusal !== null);
}

/** Null: it goes, or is gone. */
async function evict(pod: PodFacts, { client, signal, countBudgets }: EvictOptions): Promise<RefusedPod | null> {
  const { namespace, name, uid } = pod;
  try {
    await client.evict({ namespace, name }, { uid }, { signal });
    return null;
  } catch (error) {
    // A conflict: there is another pod of that name, which the next look finds if it is on this node.
    if (isKubeError(error, 'SLW_KUBE_NOT_FOUND', 'SLW_KUBE_CONFLICT')) return null;
    if (!isKubeError(error)) throw error;
    const { code, status, message } = error;
    // The API server's answer to a pod of two budgets is an internal error.
    const byBudget = code === 'SLW_KUBE_BLOCKED' || (status === 500 && countBudgets(pod) > 1);
    if (byBudget || code === 'SLW_KUBE_FORBIDDEN' || code === 'SLW_KUBE_INVALID') return { pod, byBudget, message };
    throw error;
  }
}

// Which pods of a node are evicted now, and which are waited for.

/** An eviction that the API server did not allow. */
export interface Refusal extends RefusedPod {
  readonly at: number;
  /** The budgets of the pod right before that, see `stateOf`. */
  readonly budgets: string;
}

export interface SortedPods {
  readonly evict: readonly PodFacts[];
  /** They have been told to end. */
  readonly leaving: readonly PodFacts[];
  /** They should have ended long ago. */
  readonly stuck: readonly PodFacts[];
  /** They were refused, and to ask again would change nothing yet. */
  readonly held: readonly Refusal[];
}

export interface SortRequest {
  readonly pods: readonly PodFacts[];
  /** By the UID of the pod. */
  readonly refused: ReadonlyMap<string, Refusal>;
  readonly since: number;
  readonly now: number;
  /** The budgets of a pod as they are now. */
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

/** When a refused pod is asked for again even if no budget has changed. */
export const computeRetryTime = ({ at }: Refusal, since: number): number => at + computeRetryDelay(at - since);

// Whose a pod is, in the words of the person who made it: the Deployment, not its ReplicaSet.

const replicaSets: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  namespaced: true,
};

/** '' for a pod that nobody makes a new one of. */
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
    // It is only a name for people: the ReplicaSet's own will do.
    if (isKubeError(error)) return own;
    throw error;
  }
}
