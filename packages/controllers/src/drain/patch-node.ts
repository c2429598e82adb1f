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
  type BudgetsOf,
  drainFactsOf,
  type DrainWish,
  type Obstacle,
  type PodFacts,
} from '@slipway/fleet/drain';
import type { Client, Context, Store, Stored } from '@slipway/kube';
import { createFreshness } from '../freshness.ts';
import { ownerOf, type Refusal } from './evict-pods.ts';

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

export const answerChange = (wish: DrainWish): NodeChange => ({
  annotations: {
    [nodeAnnotations.lastAppliedDrain]: wish.text,
    [drainSinceAnnotation]: null,
    [drainBlockedAnnotation]: null,
  },
});

export const uncordonChange = (wish: DrainWish, ours: boolean): NodeChange => ({
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

export interface NodeWriter {
  patch(node: Stored<Node>, change: NodeChange, client: Client): Promise<Stored<Node>>;
  /** The watch has not brought what was written last: what it shows was decided on before. */
  isBehind(name: string, seen: Pick<Store<Node>, 'get'>): boolean;
}

export function createNodeWriter(): NodeWriter {
  const fresh = createFreshness();
  return {
    async patch({ metadata }, { unschedulable, annotations }, client) {
      const { uid, resourceVersion } = metadata;
      const body = { metadata: { annotations }, ...(unschedulable !== undefined && { spec: { unschedulable } }) };
      const patch = { type: 'merge', body } as const;
      const written = await client.patch(nodes, metadata, patch, { uid, resourceVersion }, { fieldManager });
      fresh.wrote(nodes.kind, written);
      return written;
    },
    isBehind: (name, seen) => fresh.isBehind(nodes.kind, seen, name),
  };
}

const fieldManager = 'slipway-drain';

// Says on the Node what its drain waits for: the daemon's conditions and the rollout's have it from there.

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
