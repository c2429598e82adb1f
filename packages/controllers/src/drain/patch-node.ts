// The writes of a drain to a Node: each lands on the very version that it was decided on, or not at all.
import {
  cordonedAnnotation,
  drainBlockedAnnotation,
  drainSinceAnnotation,
  type Node,
  nodeAnnotations,
  nodes,
} from '@slipway/api';
import {
  blockedText,
  type BudgetLookup,
  readDrainFacts,
  type DrainRequest,
  type Obstacle,
  type PodFacts,
} from '@slipway/fleet/drain';
import type { Context, Stored, Writer } from '@slipway/kube';
import { findOwnerName, type Refusal } from './evict-pods.ts';

export const patchNode = (
  node: Stored<Node>,
  { unschedulable, annotations }: NodeChange,
  write: Writer,
): Promise<Stored<Node>> =>
  write.patch(nodes, node, {
    metadata: { annotations },
    ...(unschedulable !== undefined && { spec: { unschedulable } }),
  });

interface NodeChange {
  /** Null: pods may come. Left out: as it is. */
  readonly unschedulable?: true | null;
  readonly annotations: Readonly<Record<string, string | null>>;
}

/** `since`: when the drain began, if it is one that goes on. */
export const cordonChange = (ours: boolean, since: number | null, now: Date): NodeChange => ({
  ...(ours && { unschedulable: true }),
  annotations: {
    ...(ours && { [cordonedAnnotation]: now.toISOString() }),
    ...(since === null && { [drainSinceAnnotation]: now.toISOString() }),
  },
});

export const answerChange = (wish: DrainRequest): NodeChange => ({
  annotations: {
    [nodeAnnotations.lastAppliedDrain]: wish.text,
    [drainSinceAnnotation]: null,
    [drainBlockedAnnotation]: null,
  },
});

export const uncordonChange = (wish: DrainRequest, ours: boolean): NodeChange => ({
  ...(ours && { unschedulable: null }),
  annotations: {
    [nodeAnnotations.lastAppliedDrain]: wish.text,
    ...(ours && { [cordonedAnnotation]: null }),
    [drainSinceAnnotation]: null,
    [drainBlockedAnnotation]: null,
  },
});

export const disownChange: NodeChange = { annotations: { [cordonedAnnotation]: null } };

const blockedChange = (text: string): NodeChange => ({
  annotations: { [drainBlockedAnnotation]: text === '' ? null : text },
});

// Says on the Node what its drain waits for: the daemon's conditions and the rollout's have it from there.

/** Of so many pods people are told the names. */
const MAX_NAMED_PODS = 5;

export interface DrainBlockers {
  readonly refused: readonly Refusal[];
  readonly stuck: readonly PodFacts[];
  readonly budgets: BudgetLookup;
  /** It has taken so long that somebody has to look. */
  readonly isLoud: boolean;
}

/** Nothing is written where the Node says so already. */
export async function reportBlocked(node: Stored<Node>, blockers: DrainBlockers, context: Context): Promise<void> {
  const { write, events, log } = context;
  const text = await describeBlockers(blockers, context);
  const { blocked } = readDrainFacts(node);
  if (text !== blocked) {
    await patchNode(node, blockedChange(text), write);
    log.info({ text }, text === '' ? 'nothing is in the way of a drain any more' : 'a drain is blocked');
  }
  if (text === '') return;
  if (blockers.isLoud) events.record(nodes, node, { type: 'Warning', reason: 'FailedToDrain', message: text });
  else if (blocked === '') events.record(nodes, node, { type: 'Normal', reason: 'Drain', message: text });
}

async function describeBlockers(
  { refused, stuck, budgets }: DrainBlockers,
  { client, signal }: Context,
): Promise<string> {
  const all = [
    ...refused.map((refusal) => ({ pod: refusal.pod, why: explainRefusal(refusal, budgets) })),
    ...stuck.map((pod) => ({ pod, why: explainStuck(pod) })),
  ].sort((a, b) => (fullName(a.pod) < fullName(b.pod) ? -1 : 1));
  const named: Obstacle[] = [];
  for (const { pod, why } of all.slice(0, MAX_NAMED_PODS)) {
    named.push({ pod, why, owner: await findOwnerName(pod, client, signal) });
  }
  return blockedText(named, all.length - named.length);
}

function explainRefusal({ pod, byBudget, message }: Refusal, budgets: BudgetLookup): Obstacle['why'] {
  const found = byBudget ? budgets(pod) : [];
  return found.length > 0 ? { type: 'budgets', budgets: found } : { type: 'refused', message };
}

const explainStuck = ({ endsAt, finalizers }: PodFacts): Obstacle['why'] => ({
  type: 'stuck',
  since: endsAt ?? 0,
  finalizers,
});

const fullName = ({ namespace, name }: PodFacts): string => `${namespace}/${name}`;
