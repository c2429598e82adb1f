// Which pods of a node are evicted now, and which are waited for.
import type { PodFacts } from '@slipway/fleet/drain';
import type { RefusedPod } from './evict-pods.ts';
import { retryAfter, STUCK_AFTER } from './pace.ts';

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
    if (pod.endsAt !== null) sorted[now > pod.endsAt + STUCK_AFTER ? 'stuck' : 'leaving'].push(pod);
    else if (refusal === undefined || now >= retryAt(refusal, since)) sorted.evict.push(pod);
    else if (refusal.budgets === budgetsNow(pod)) sorted.held.push(refusal);
    else sorted.evict.push(pod);
  }
  return sorted;
}

/** When a refused pod is asked for again even if no budget has changed. */
export const retryAt = ({ at }: Refusal, since: number): number => at + retryAfter(at - since);
