// Which pods a drain would evict, and which budgets would block it now, by the rules of the drain controller.
import type { Pod, PodDisruptionBudget } from '@slipway/api';
import { findBudgets, readPodFacts } from '../drain/pods.ts';
import type { Stored } from '../kube-object.ts';
import type { BlockingBudget, FleetPlan, NodePlan, PlannedDrain, PoolPlan } from './fleet-plan.ts';

/** Only the fields that are needed: a cluster may have a hundred thousand pods. */
export interface EvictedPod {
  /** `namespace/name` */
  readonly key: string;
  readonly namespace: string;
  readonly node: string;
  readonly labels: Readonly<Record<string, string>>;
  /** It is not running yet, so no budget protects it. */
  readonly isPending: boolean;
}

/** Null for pods that a drain ignores or that are already terminating. */
export function evictedPod(pod: Stored<Pod>): EvictedPod | null {
  const facts = readPodFacts(pod);
  const node = pod.spec?.nodeName;
  if (facts === null || facts.endsAt !== null || node === undefined) return null;
  const { namespace, name, labels } = facts;
  return { key: `${namespace}/${name}`, namespace, node, labels, isPending: pod.status?.phase === 'Pending' };
}

/** Adds the drains to a plan. Null pods or budgets: they could not be listed. */
export function withEvictions(
  plan: FleetPlan,
  pods: readonly EvictedPod[] | null,
  budgets: readonly PodDisruptionBudget[] | null,
): FleetPlan {
  const byNode = pods === null ? null : Map.groupBy(pods, ({ node }) => node);
  const byNamespace = Map.groupBy(budgets ?? [], ({ metadata }) => metadata.namespace ?? '');
  const fill = (node: NodePlan): NodePlan =>
    node.drain === null || byNode === null
      ? node
      : { ...node, drain: planDrain(byNode.get(node.name) ?? [], byNamespace) };
  return { ...plan, pools: plan.pools.map((pool): PoolPlan => ({ ...pool, nodes: pool.nodes.map(fill) })) };
}

function planDrain(
  pods: readonly EvictedPod[],
  budgets: ReadonlyMap<string, readonly PodDisruptionBudget[]>,
): PlannedDrain {
  const counted = new Map<PodDisruptionBudget, string[]>();
  for (const pod of pods) {
    if (pod.isPending) continue;
    for (const budget of findBudgets(pod, budgets.get(pod.namespace) ?? [])) {
      counted.set(budget, [...(counted.get(budget) ?? []), pod.key]);
    }
  }
  const blockedBy = [...counted]
    .map(([budget, keys]) => blocking(budget, keys))
    .filter(({ allowed, pods: here }) => allowed < here.length);
  return {
    evicted: pods.map(({ key }) => key).sort(),
    blockedBy: blockedBy.sort((a, b) => (a.budget < b.budget ? -1 : 1)),
  };
}

function blocking({ metadata, status }: PodDisruptionBudget, pods: readonly string[]): BlockingBudget {
  const { namespace = '', name } = metadata;
  return { budget: `${namespace}/${name}`, allowed: status?.disruptionsAllowed ?? 0, pods: [...pods].sort() };
}
