// The PodDisruptionBudgets that have a say about a pod.
import type { PodDisruptionBudget } from '@slipway/api';
import type { Stored } from '../kube-object.ts';
import { matchesSelector } from '../render/label-selector.ts';
import type { PodFacts } from './pod-facts.ts';

/** Those of its namespace that select it, by name. */
export function budgetsOf(
  { namespace, labels }: Pick<PodFacts, 'namespace' | 'labels'>,
  budgets: Iterable<PodDisruptionBudget>,
): PodDisruptionBudget[] {
  return [...budgets]
    .filter(({ metadata, spec }) => metadata.namespace === namespace && matchesSelector(spec?.selector, labels))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

export type BudgetsOf = (pod: PodFacts) => PodDisruptionBudget[];

/** All that the API server decides an eviction by: while it is the same, so is the answer. */
export function stateOf(budgets: readonly PodDisruptionBudget[]): string {
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
