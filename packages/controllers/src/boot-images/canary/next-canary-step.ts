// One machine of the new image before all others: whether it has come up, is still awaited, or has failed.

/** How long the machine may take from nothing to a ready Node. */
export const CANARY_MS = 30 * 60_000;

export interface CanaryFacts {
  /** A digest of the spec that is to be tried. */
  readonly wanted: string;
  /** The spec that has failed before, by its digest. */
  readonly failed: string | null;
  /** How many machines the MachineSet has to have. */
  readonly replicas: number;
  /** What has the name of the canary. */
  readonly found: FoundCanary | null;
  readonly now: number;
}

export interface FoundCanary {
  /** It was made by us, for this MachineSet. */
  readonly isOurs: boolean;
  /** Of the spec that it tries. */
  readonly digest: string;
  readonly madeAt: number;
  readonly readyReplicas: number;
  readonly isGoing: boolean;
}

export type CanaryStep =
  /** Nobody asks for machines: there is nothing to try, and nobody to be hurt. */
  | { readonly type: 'not needed' }
  | { readonly type: 'make' }
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'passed' }
  /** It is to be removed, and the spec not to be tried again. */
  | { readonly type: 'failed' }
  /** It has failed before. */
  | { readonly type: 'refused' }
  /** It tries another spec: it is to be removed first. */
  | { readonly type: 'outdated' }
  /** Something else has its name. */
  | { readonly type: 'taken' };

export function nextCanaryStep(facts: CanaryFacts): CanaryStep {
  const { wanted, failed, replicas, found } = facts;
  if (found !== null) return nextOfFound(found, facts);
  if (failed === wanted) return { type: 'refused' };
  return { type: replicas > 0 ? 'make' : 'not needed' };
}

function nextOfFound(found: FoundCanary, { wanted, failed, now }: CanaryFacts): CanaryStep {
  if (!found.isOurs) return { type: 'taken' };
  // Its removal wakes us.
  if (found.isGoing) return { type: 'wait', ms: CANARY_MS };
  if (failed === wanted) return { type: 'failed' };
  if (found.digest !== wanted) return { type: 'outdated' };
  if (found.readyReplicas > 0) return { type: 'passed' };
  const left = found.madeAt + CANARY_MS - now;
  return left > 0 ? { type: 'wait', ms: left } : { type: 'failed' };
}
