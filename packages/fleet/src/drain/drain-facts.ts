// What is decided on when a node asks to be drained, or for its pods back: what its Node says.
import { cordonedAnnotation, drainBlockedAnnotation, drainSinceAnnotation, nodeAnnotations } from '@slipway/api';
import type { Node } from '@slipway/api';

export interface DrainFacts {
  /** What the daemon asks for, and what it was last given; null: nothing yet. */
  readonly wanted: DrainWish | null;
  readonly applied: string | null;
  readonly isUnschedulable: boolean;
  /** It says that the cordon is ours. */
  readonly isCordonedByUs: boolean;
  /** Since when it is being drained, in milliseconds; null: it is not. */
  readonly since: number | null;
  /** What its drain was last said to wait for; '' for nothing. */
  readonly blocked: string;
}

export interface DrainWish {
  readonly verb: 'drain' | 'uncordon';
  /** As it is written on the Node, and to be answered. */
  readonly text: string;
  /** The config it is about, for people. */
  readonly config: string;
}

export function drainFactsOf({ metadata, spec }: Node): DrainFacts {
  const { annotations = {} } = metadata;
  const since = Date.parse(annotations[drainSinceAnnotation] ?? '');
  return {
    wanted: wishIn(annotations[nodeAnnotations.desiredDrain]),
    applied: annotations[nodeAnnotations.lastAppliedDrain] ?? null,
    isUnschedulable: spec?.unschedulable === true,
    isCordonedByUs: annotations[cordonedAnnotation] !== undefined,
    since: Number.isNaN(since) ? null : since,
    blocked: annotations[drainBlockedAnnotation] ?? '',
  };
}

/** Null also for a word that nobody knows: a later version may have more of them. */
function wishIn(text: string | undefined): DrainWish | null {
  const [, verb, config] = /^(drain|uncordon)-(.+)$/s.exec(text ?? '') ?? [];
  if (text === undefined || config === undefined) return null;
  return { verb: verb === 'drain' ? 'drain' : 'uncordon', text, config };
}

/** It was asked for a drain, and that was not answered yet. */
export function isBeingDrained({ wanted, applied }: DrainFacts): boolean {
  return wanted?.verb === 'drain' && wanted.text !== applied;
}
