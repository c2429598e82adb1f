// Asks the API server to evict pods; which of them may go, it decides by their budgets.
import type { PodFacts } from '@slipway/fleet/drain';
import { type Client, isKubeError } from '@slipway/kube';

export interface RefusedPod {
  readonly pod: PodFacts;
  /** False: for another reason than its budgets. */
  readonly byBudget: boolean;
  /** The API server's words. */
  readonly message: string;
}

const AT_ONCE = 10;

export interface EvictOptions {
  readonly client: Client;
  readonly signal: AbortSignal;
  /** How many budgets select a pod. */
  countBudgets(this: void, pod: PodFacts): number;
}

/** Those that were refused. Rejects when the API server cannot be asked; some may have been evicted then. */
export async function evictPods(pods: readonly PodFacts[], options: EvictOptions): Promise<RefusedPod[]> {
  const queue = [...pods];
  const refused: RefusedPod[] = [];
  let failed = false;
  async function work(): Promise<void> {
    for (let pod = queue.shift(); pod !== undefined && !failed; pod = queue.shift()) {
      try {
        const refusal = await evict(pod, options);
        if (refusal !== null) refused.push(refusal);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: Math.min(AT_ONCE, queue.length) }, work));
  const problem = ended.find((result) => result.status === 'rejected');
  if (problem !== undefined) throw problem.reason;
  return refused;
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
