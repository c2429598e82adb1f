// The drain and uncordon requests of a node, read from its Node.
import {
  cordonedAnnotation,
  drainBlockedAnnotation,
  drainSinceAnnotation,
  type Node,
  nodeAnnotations,
} from '@slipway/api';
import { isProtected, readMachineReferences } from './reboot-protection.ts';

export interface DrainFacts {
  /** What the daemon requests, and the last request that was answered; null: none yet. */
  readonly wanted: DrainRequest | null;
  readonly applied: string | null;
  readonly isUnschedulable: boolean;
  /** The cordon is marked as Slipway's. */
  readonly isCordonedByUs: boolean;
  /** When its drain started, in milliseconds; null: it is not being drained. */
  readonly since: number | null;
  /** What its drain was last reported to wait for; '' for nothing. */
  readonly blocked: string;
  /** The Node names a Machine. */
  readonly hasMachine: boolean;
  readonly isProtected: boolean;
}

export interface DrainRequest {
  readonly verb: 'drain' | 'uncordon';
  /** The text on the Node, repeated in the answer. */
  readonly text: string;
  /** The config it is about, for messages. */
  readonly config: string;
}

export function readDrainFacts(node: Node): DrainFacts {
  const { metadata, spec } = node;
  const { annotations = {} } = metadata;
  const since = Date.parse(annotations[drainSinceAnnotation] ?? '');
  return {
    wanted: parseDrainRequest(annotations[nodeAnnotations.desiredDrain]),
    applied: annotations[nodeAnnotations.lastAppliedDrain] ?? null,
    isUnschedulable: spec?.unschedulable === true,
    isCordonedByUs: annotations[cordonedAnnotation] !== undefined,
    since: Number.isNaN(since) ? null : since,
    blocked: annotations[drainBlockedAnnotation] ?? '',
    hasMachine: readMachineReferences(node).length > 0,
    isProtected: isProtected(node),
  };
}

/** Null also for an unknown verb: a later version may add more. */
function parseDrainRequest(text: string | undefined): DrainRequest | null {
  const [, verb, config] = /^(drain|uncordon)-(.+)$/s.exec(text ?? '') ?? [];
  if (text === undefined || config === undefined) return null;
  return { verb: verb === 'drain' ? 'drain' : 'uncordon', text, config };
}

/** A drain was requested and is not finished. */
export function isBeingDrained({ wanted, applied }: DrainFacts): boolean {
  return wanted?.verb === 'drain' && wanted.text !== applied;
}

// The next step of a drain or uncordon.

export type DrainStep =
  /** There is no open request. */
  | { readonly type: 'rest' }
  /** A user undid Slipway's cordon: the next cordon is not Slipway's. */
  | { readonly type: 'disown' }
  /** It is not being drained, but its annotation names what blocks the drain: another client wrote it. */
  | { readonly type: 'unblock' }
  /** Its drain is skipped, and its Machine must not be replaced: the Node records that before the Machine does. */
  | { readonly type: 'protect' }
  /** No other node could run its pods: the drain is skipped. */
  | { readonly type: 'spare'; readonly wish: DrainRequest }
  /** `ours` false: a user has cordoned it, and only the start time is recorded. */
  | { readonly type: 'cordon'; readonly wish: DrainRequest; readonly ours: boolean; readonly since: number | null }
  /** It is cordoned: evict its pods. */
  | { readonly type: 'empty'; readonly wish: DrainRequest; readonly since: number }
  /** `ours` false: the user who cordoned it decides when to uncordon it. */
  | { readonly type: 'uncordon'; readonly wish: DrainRequest; readonly ours: boolean };

export function nextDrainStep(facts: DrainFacts, isOnlyNode: boolean): DrainStep {
  const { wanted, applied, isCordonedByUs, isUnschedulable, since } = facts;
  if (wanted === null || (wanted.text === applied && !isLeftInADrain(facts))) {
    if (isCordonedByUs && !isUnschedulable) return { type: 'disown' };
    return { type: facts.blocked === '' ? 'rest' : 'unblock' };
  }
  if (wanted.verb === 'uncordon') return { type: 'uncordon', wish: wanted, ours: isCordonedByUs };
  if (isOnlyNode) {
    return facts.hasMachine && !facts.isProtected ? { type: 'protect' } : { type: 'spare', wish: wanted };
  }
  if (isUnschedulable && since !== null) return { type: 'empty', wish: wanted, since };
  return { type: 'cordon', wish: wanted, ours: !isUnschedulable, since };
}

/**
 * An update was abandoned before its drain was answered: the uncordon request is then the same text as after the last
 * update, which was already answered.
 */
const isLeftInADrain = ({ wanted, isCordonedByUs, isUnschedulable, since }: DrainFacts): boolean =>
  wanted?.verb === 'uncordon' && (since !== null || (isCordonedByUs && isUnschedulable));
