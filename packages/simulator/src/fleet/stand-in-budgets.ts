// In the place of kube-controller-manager, which `npm start` does not run: keeps the status of PodDisruptionBudgets, without which
// the API server refuses every eviction that one of them has a say in.
import { type Pod, type PodDisruptionBudget, podDisruptionBudgets, pods } from '@slipway/api';
import { type ControllerDef, done, keyOf, nameOf, type Read } from '@slipway/kube';
import { budgetStatusOf } from './budget-status.ts';
import { trimPod } from './trim-pod.ts';

const BY_NAMESPACE = 'by-namespace';
const namespaceOf = ({ metadata }: Pod | PodDisruptionBudget): string[] => [metadata.namespace ?? ''];

export const standInBudgets: ControllerDef = {
  name: 'stand-in-budgets',
  reads: [
    { resource: podDisruptionBudgets, indexes: { [BY_NAMESPACE]: namespaceOf } },
    { resource: pods, project: trimPod, indexes: { [BY_NAMESPACE]: namespaceOf }, keysOf: budgetsNear },
  ],
  owns: [{ resource: podDisruptionBudgets, subresource: 'status' }],
  async reconcile(key, { read, client }) {
    const budget = read(podDisruptionBudgets).get(key);
    if (budget === undefined) return done();
    const status = budgetStatusOf(budget, read(pods).byIndex(BY_NAMESPACE, budget.metadata.namespace ?? ''));
    if (says(budget, status)) return done();
    // The API server counts evictions in the same status: what it has written meanwhile must not be lost.
    const { uid, resourceVersion } = budget.metadata;
    const patch = { type: 'merge', body: { status } } as const;
    await client.patch(podDisruptionBudgets, nameOf(key), patch, { uid, resourceVersion }, { subresource: 'status' });
    return done();
  },
};

function budgetsNear({ metadata }: Pod, read: Read): string[] {
  return read(podDisruptionBudgets)
    .byIndex(BY_NAMESPACE, metadata.namespace ?? '')
    .map(keyOf);
}

function says(
  { status }: PodDisruptionBudget,
  { disruptedPods, ...wanted }: ReturnType<typeof budgetStatusOf>,
): boolean {
  const found = status ?? {};
  return (
    Object.keys(disruptedPods).length === 0 &&
    (Object.keys(wanted) as (keyof typeof wanted)[]).every((field) => found[field] === wanted[field])
  );
}
