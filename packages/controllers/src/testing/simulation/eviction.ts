// Which pods a PodDisruptionBudget protects from eviction.
import type { Pod, PodDisruptionBudget } from '@slipway/api';
import type { KubeObject } from '@slipway/kube';

/** A pod that does not run yet, or has ended, is not protected. */
export function isHeldByBudgets(pod: Pod): boolean {
  const { phase } = pod.status ?? {};
  return phase === 'Running';
}

export function isBlocking({ metadata, spec }: PodDisruptionBudget, pod: KubeObject): boolean {
  const wanted = Object.entries(spec?.selector?.matchLabels ?? {});
  const labels = pod.metadata.labels ?? {};
  return metadata.namespace === pod.metadata.namespace && wanted.every(([name, value]) => labels[name] === value);
}
