// Says on the Node what its drain waits for: the daemon's conditions and the rollout's have it from there.
import { type Node, nodes } from '@slipway/api';
import { blockedText, type BudgetsOf, drainFactsOf, type Obstacle, type PodFacts } from '@slipway/fleet/drain';
import type { Context, Stored } from '@slipway/kube';
import { blockedChange, type NodeWriter } from './patch-node.ts';
import { ownerOf } from './pod-owner.ts';
import type { Refusal } from './sort-pods.ts';

/** Of so many pods people are told the names. */
const MAX_NAMED = 5;

export interface InTheWay {
  readonly refused: readonly Refusal[];
  readonly stuck: readonly PodFacts[];
  readonly budgets: BudgetsOf;
  /** It has taken so long that somebody has to look. */
  readonly isLoud: boolean;
}

/** Nothing is written where the Node says so already. */
export async function tellBlocked(
  node: Stored<Node>,
  inTheWay: InTheWay,
  writer: NodeWriter,
  context: Context,
): Promise<void> {
  const { client, events, log } = context;
  const text = await textOf(inTheWay, context);
  const { blocked } = drainFactsOf(node);
  if (text !== blocked) {
    await writer.patch(node, blockedChange(text), client);
    log.info({ text }, text === '' ? 'nothing is in the way of a drain any more' : 'a drain is blocked');
  }
  if (text === '') return;
  if (inTheWay.isLoud) events.record(nodes, node, { type: 'Warning', reason: 'FailedToDrain', message: text });
  else if (blocked === '') events.record(nodes, node, { type: 'Normal', reason: 'Drain', message: text });
}

async function textOf({ refused, stuck, budgets }: InTheWay, { client, signal }: Context): Promise<string> {
  const all = [
    ...refused.map((refusal) => ({ pod: refusal.pod, why: whyRefused(refusal, budgets) })),
    ...stuck.map((pod) => ({ pod, why: whyStuck(pod) })),
  ].sort((a, b) => (fullName(a.pod) < fullName(b.pod) ? -1 : 1));
  const named: Obstacle[] = [];
  for (const { pod, why } of all.slice(0, MAX_NAMED)) {
    named.push({ pod, why, owner: await ownerOf(pod, client, signal) });
  }
  return blockedText(named, all.length - named.length);
}

function whyRefused({ pod, byBudget, message }: Refusal, budgets: BudgetsOf): Obstacle['why'] {
  const found = byBudget ? budgets(pod) : [];
  return found.length > 0 ? { type: 'budgets', budgets: found } : { type: 'refused', message };
}

const whyStuck = ({ endsAt, finalizers }: PodFacts): Obstacle['why'] => ({
  type: 'stuck',
  since: endsAt ?? 0,
  finalizers,
});

const fullName = ({ namespace, name }: PodFacts): string => `${namespace}/${name}`;
