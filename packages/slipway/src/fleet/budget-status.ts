// What a PodDisruptionBudget allows from the pods there are. The controller that does this in a cluster also asks the
// owners of pods how many there should be; here nobody makes pods anew, so those that are there are those that are expected.
import type { Pod, PodDisruptionBudget } from '@slipway/api';
import { matchesSelector } from '@slipway/fleet';

type BudgetStatus = Required<Omit<NonNullable<PodDisruptionBudget['status']>, 'disruptedPods'>> & {
  /** Null: to be taken away. */
  disruptedPods: Record<string, string | null>;
};

/** `pods` are those of its namespace. */
export function budgetStatusOf(budget: PodDisruptionBudget, pods: readonly Pod[]): BudgetStatus {
  const { generation = 0 } = budget.metadata;
  const matching = pods.filter(({ metadata }) => matchesSelector(budget.spec?.selector, metadata.labels));
  const leaving = Object.keys(budget.status?.disruptedPods ?? {});
  const isHealthy = ({ metadata, status }: Pod): boolean =>
    status?.phase === 'Running' && metadata.deletionTimestamp === undefined && !leaving.includes(metadata.name);
  const expectedPods = matching.length;
  const currentHealthy = matching.filter(isHealthy).length;
  const desiredHealthy = desiredOf(budget, expectedPods);
  const there = new Set(pods.map(({ metadata }) => metadata.name));
  return {
    expectedPods,
    currentHealthy,
    desiredHealthy,
    disruptionsAllowed: Math.max(0, currentHealthy - desiredHealthy),
    observedGeneration: generation,
    disruptedPods: Object.fromEntries(leaving.filter((name) => !there.has(name)).map((name) => [name, null])),
  };
}

function desiredOf({ spec }: PodDisruptionBudget, expected: number): number {
  const { minAvailable, maxUnavailable } = spec ?? {};
  if (maxUnavailable !== undefined) return Math.max(0, expected - share(maxUnavailable, expected));
  return minAvailable === undefined ? expected : share(minAvailable, expected);
}

/** Percentages are rounded up, as in a cluster. */
function share(amount: number | string, of: number): number {
  if (typeof amount === 'number') return amount;
  const percent = Number.parseInt(amount, 10);
  return Number.isNaN(percent) ? of : Math.ceil((percent / 100) * of);
}
