import { maskSecrets } from '@slipway/base/masking';
import { truncate } from '@slipway/base/text';

/** The fields of a Kubernetes condition; older APIs omit some of the optional ones. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  lastTransitionTime: string;
  reason?: string;
  message?: string;
  observedGeneration?: number;
}

export type ConditionUpdate = Omit<Condition, 'lastTransitionTime'>;

/** The limits of metav1.Condition: an API server rejects longer values. */
const MAX_MESSAGE = 32_768;
const MAX_REASON = 1024;

/** The format that Kubernetes writes: whole seconds, UTC. */
export const timestamp = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;

export const findCondition = <C extends Condition>(list: readonly C[] | undefined, type: string): C | undefined =>
  list?.find((condition) => condition.type === type);

/**
 * Returns the list with this condition, at its old index or at the end. Returns the same list if nothing changes, so
 * that the caller can skip the write.
 */
export function setCondition(
  list: readonly Condition[] | undefined,
  update: ConditionUpdate,
  now: Date,
): readonly Condition[] {
  const wanted = withinLimits(update);
  const conditions = list ?? [];
  const place = conditions.findIndex(({ type }) => type === wanted.type);
  const old = conditions[place];
  if (old === undefined) return [...conditions, { ...wanted, lastTransitionTime: timestamp(now) }];

  const next: Condition = {
    ...wanted,
    lastTransitionTime: old.status === wanted.status ? old.lastTransitionTime : timestamp(now),
  };
  // A list without the map rule in its schema can contain a type twice; readers would see either one.
  const once = conditions.filter(({ type }, at) => at === place || type !== wanted.type);
  if (once.length === conditions.length && same(old, next)) return conditions;
  return once.map((condition) => (condition === old ? next : condition));
}

/** Returns the list without conditions of this type; the same list if there were none. */
export function removeCondition(list: readonly Condition[] | undefined, type: string): readonly Condition[] {
  const conditions = list ?? [];
  const rest = conditions.filter((condition) => condition.type !== type);
  return rest.length === conditions.length ? conditions : rest;
}

/** Without secrets: a message quotes errors, and an error may quote anything. */
function withinLimits(update: ConditionUpdate): ConditionUpdate {
  const { message, reason } = update;
  return {
    ...update,
    ...(message === undefined ? {} : { message: truncate(maskSecrets(message), MAX_MESSAGE) }),
    ...(reason === undefined ? {} : { reason: reason.slice(0, MAX_REASON) }),
  };
}

const same = (a: Condition, b: Condition): boolean =>
  a.status === b.status &&
  a.reason === b.reason &&
  a.message === b.message &&
  a.observedGeneration === b.observedGeneration &&
  a.lastTransitionTime === b.lastTransitionTime;
