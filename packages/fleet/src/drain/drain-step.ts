// What is decided on when a node asks to be drained, or for its pods back: what its Node says.
import {
  cordonedAnnotation,
  drainBlockedAnnotation,
  drainSinceAnnotation,
  type Node,
  nodeAnnotations,
} from '@slipway/api';

export interface DrainFacts {
  /** What the daemon asks for, and what it was last given; null: nothing yet. */
  readonly wanted: DrainRequest | null;
  readonly applied: string | null;
  readonly isUnschedulable: boolean;
  /** It says that the cordon is ours. */
  readonly isCordonedByUs: boolean;
  /** Since when it is being drained, in milliseconds; null: it is not. */
  readonly since: number | null;
  /** What its drain was last said to wait for; '' for nothing. */
  readonly blocked: string;
}

export interface DrainRequest {
  readonly verb: 'drain' | 'uncordon';
  /** As it is written on the Node, and to be answered. */
  readonly text: string;
  /** The config it is about, for people. */
  readonly config: string;
}

export function readDrainFacts({ metadata, spec }: Node): DrainFacts {
  const { annotations = {} } = metadata;
  const since = Date.parse(annotations[drainSinceAnnotation] ?? '');
  return {
    wanted: parseDrainRequest(annotations[nodeAnnotations.desiredDrain]),
    applied: annotations[nodeAnnotations.lastAppliedDrain] ?? null,
    isUnschedulable: spec?.unschedulable === true,
    isCordonedByUs: annotations[cordonedAnnotation] !== undefined,
    since: Number.isNaN(since) ? null : since,
    blocked: annotations[drainBlockedAnnotation] ?? '',
  };
}

/** Null also for a word that nobody knows: a later version may have more of them. */
function parseDrainRequest(text: string | undefined): DrainRequest | null {
  const [, verb, config] = /^(drain|uncordon)-(.+)$/s.exec(text ?? '') ?? [];
  if (text === undefined || config === undefined) return null;
  return { verb: verb === 'drain' ? 'drain' : 'uncordon', text, config };
}

/** It was asked for a drain, and that was not answered yet. */
export function isBeingDrained({ wanted, applied }: DrainFacts): boolean {
  return wanted?.verb === 'drain' && wanted.text !== applied;
}

// What is done next about a node that asks to be drained, or for its pods back.

export type DrainStep =
  /** Nothing is asked for that it does not have. */
  | { readonly type: 'rest' }
  /** Somebody has undone our cordon: the next one is not ours. */
  | { readonly type: 'disown' }
  /** There is no other node that its pods could go to: it has the answer at once. */
  | { readonly type: 'spare'; readonly wish: DrainRequest }
  /** `ours` false: somebody else has cordoned it, only the time is noted. */
  | { readonly type: 'cordon'; readonly wish: DrainRequest; readonly ours: boolean; readonly since: number | null }
  /** No new pods come: those that are there have to leave. */
  | { readonly type: 'empty'; readonly wish: DrainRequest; readonly since: number }
  /** `ours` false: whoever cordoned it decides when pods come back. */
  | { readonly type: 'uncordon'; readonly wish: DrainRequest; readonly ours: boolean };

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
