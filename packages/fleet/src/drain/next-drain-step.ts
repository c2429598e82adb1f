// What is done next about a node that asks to be drained, or for its pods back.
import type { DrainFacts, DrainWish } from './drain-facts.ts';

export type DrainStep =
  /** Nothing is asked for that it does not have. */
  | { readonly type: 'rest' }
  /** Somebody has undone our cordon: the next one is not ours. */
  | { readonly type: 'disown' }
  /** There is no other node that its pods could go to: it has the answer at once. */
  | { readonly type: 'spare'; readonly wish: DrainWish }
  /** `ours` false: somebody else has cordoned it, only the time is noted. */
  | { readonly type: 'cordon'; readonly wish: DrainWish; readonly ours: boolean; readonly since: number | null }
  /** No new pods come: those that are there have to leave. */
  | { readonly type: 'empty'; readonly wish: DrainWish; readonly since: number }
  /** `ours` false: whoever cordoned it decides when pods come back. */
  | { readonly type: 'uncordon'; readonly wish: DrainWish; readonly ours: boolean };

export function nextDrainStep(facts: DrainFacts, isOnlyNode: boolean): DrainStep {
  const { wanted, applied, isCordonedByUs, isUnschedulable, since } = facts;
  if (wanted === null || (wanted.text === applied && !isLeftInADrain(facts))) {
    return { type: isCordonedByUs && !isUnschedulable ? 'disown' : 'rest' };
  }
  if (wanted.verb === 'uncordon') return { type: 'uncordon', wish: wanted, ours: isCordonedByUs };
  if (isOnlyNode) return { type: 'spare', wish: wanted };
  if (isUnschedulable && since !== null) return { type: 'empty', wish: wanted, since };
  return { type: 'cordon', wish: wanted, ours: !isUnschedulable, since };
}

/**
 * An update that was called off before its drain was answered: the node asks for its pods back in the same words as after its
 * last update, which have their answer from then.
 */
const isLeftInADrain = ({ wanted, isCordonedByUs, isUnschedulable, since }: DrainFacts): boolean =>
  wanted?.verb === 'uncordon' && (since !== null || (isCordonedByUs && isUnschedulable));
