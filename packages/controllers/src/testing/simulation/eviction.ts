// Which pods a PodDisruptionBudget has a word about when they are to be evicted.
import type { Pod, PodDisruptionBudget } from '@slipway/api';
import type { KubeObject } from '@slipway/kube';

/** One that does not run yet, or has ended, serves nobody: it may go whatever a budget says. */
export function isHeldByBudgets(pod: Pod): boolean {
  const { phase } = pod.status ?? {};
  return phase === 'Running';
}

export function isBlocking({ metadata, spec }: PodDisruptionBudget, pod: KubeObject): boolean {
  const wanted = Object.entries(spec?.selector?.matchLabels ?? {});
  const labels = pod.metadata.labels ?? {};
  return metadata.namespace === pod.metadata.namespace && wanted.every(([name, value]) => labels[name] === value);
}
