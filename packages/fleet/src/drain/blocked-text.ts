// What a drain waits for as text: which pod, its owner, what blocks its eviction, and what to do.
import type { PodDisruptionBudget } from '@slipway/api';
import { maskSecrets } from '@slipway/base/masking';
import type { PodFacts } from './pods.ts';

export interface Obstacle {
  readonly pod: Pick<PodFacts, 'namespace' | 'name'>;
  /** Such as `Deployment web`; '' if it has no controller. */
  readonly owner: string;
  readonly why: ObstacleReason;
}

export type ObstacleReason =
  | { readonly type: 'budgets'; readonly budgets: readonly PodDisruptionBudget[] }
  /** Not because of a known budget: the message of the API server, or of an admission webhook, which may contain anything. */
  | { readonly type: 'refused'; readonly message: string }
  /** `since`: when its grace period ended, in milliseconds. */
  | { readonly type: 'stuck'; readonly since: number; readonly finalizers: readonly string[] };

const MAX_BYTES = 1024;
const MAX_MESSAGE = 300;

/** '' without obstacles. The text does not depend on their order; `more` obstacles are only counted. */
export function blockedText(obstacles: readonly Obstacle[], more = 0): string {
  if (obstacles.length === 0) return '';
  const count = obstacles.length + more;
  const named = obstacles.map(sentence).sort();
  let text = count === 1 ? 'The drain is waiting for 1 pod.' : `The drain is waiting for ${count} pods.`;
  for (const [index, each] of named.entries()) {
    const rest = count - index - 1;
    const next = `${text} ${each}`;
    if (index > 0 && Buffer.byteLength(next + andMore(rest)) > MAX_BYTES) return text + andMore(rest + 1);
    text = next;
  }
  return cut(text + andMore(more), MAX_BYTES);
}

const andMore = (count: number): string => (count === 0 ? '' : ` And ${count} more.`);

function sentence({ pod, owner, why }: Obstacle): string {
  const who = `Pod ${pod.namespace}/${pod.name}${owner === '' ? '' : ` of ${owner}`}`;
  switch (why.type) {
    case 'budgets':
      return `${who}: ${budgetClause(why.budgets)}.`;
    case 'refused':
      return `${who} cannot be evicted: ${cut(maskSecrets(why.message), MAX_MESSAGE)}.`;
    case 'stuck':
      return `${who} should have terminated by ${new Date(why.since).toISOString()}: ${stuckClause(why.finalizers)}.`;
  }
}

function budgetClause(budgets: readonly PodDisruptionBudget[]): string {
  const [budget] = budgets;
  if (budget === undefined) return 'a PodDisruptionBudget blocks its eviction';
  if (budgets.length > 1) {
    const names = budgets.map(({ metadata }) => metadata.name).join(' and ');
    return `PodDisruptionBudgets ${names} both select it, and Kubernetes does not evict a pod with two budgets; change the selector of one of them`;
  }
  const name = `PodDisruptionBudget ${budget.metadata.name}`;
  if (!isCounted(budget)) {
    return `${name} has changed and its status is outdated; check that kube-controller-manager runs`;
  }
  const never = neverAllows(budget.spec ?? {});
  if (never !== '') return `${name} never allows an eviction (${never}); change it, or delete the pod`;
  const { desiredHealthy = 0, currentHealthy = 0 } = budget.status ?? {};
  return (
    `${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy}; ` +
    'add healthy pods, change the budget, or delete the pod'
  );
}

const isCounted = ({ metadata, status }: PodDisruptionBudget): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);

/** More pods do not help if the budget protects all of them. */
function neverAllows({ minAvailable, maxUnavailable }: NonNullable<PodDisruptionBudget['spec']>): string {
  if (maxUnavailable === 0 || maxUnavailable === '0%') return `maxUnavailable: ${maxUnavailable}`;
  return minAvailable === '100%' ? 'minAvailable: 100%' : '';
}

const stuckClause = (finalizers: readonly string[]): string =>
  finalizers.length === 0
    ? 'the kubelet has not confirmed it; check that the kubelet runs'
    : `its finalizers ${cut(finalizers.join(', '), MAX_MESSAGE)} block it; check the controllers that should remove them`;

function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const head = Buffer.from(text).subarray(0, bytes - 3);
  // A character that was cut in two is a replacement character at the end.
  return `${head.toString('utf8').replace(/\uFFFD$/, '')}…`;
}
