// The writes of a drain to a Node. Each applies to the version that the decision is based on, or fails.
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
  protectNode,
  releaseNode,
} from '@slipway/fleet/drain';
import type { Context, Stored, Writer } from '@slipway/kube';
import { keepNodeFields } from '../sources.ts';
import { findOwnerName, type Refusal } from './evict-pods.ts';

/** Returns what the stores keep of the node: dozens of drains wait with it for the API server. */
export const patchNode = async (
  node: Stored<Node>,
  { unschedulable, annotations }: NodeChange,
  write: Writer,
): Promise<Stored<Node>> =>
  keepNodeFields(
    await write.patch(nodes, node, {
      metadata: { annotations },
      ...(unschedulable !== undefined && { spec: { unschedulable } }),
    }),
  );

interface NodeChange {
  /** Null: schedulable. Undefined: unchanged. */
  readonly unschedulable?: true | null;
  readonly annotations: Readonly<Record<string, string | null>>;
}

/** `since`: the start of a drain that is already running. */
export const cordonChange = (node: Node, ours: boolean, since: number | null, now: Date): NodeChange => ({
  ...(ours && { unschedulable: true }),
  annotations: {
    ...protectNode(node),
    ...(ours && { [cordonedAnnotation]: now.toISOString() }),
    ...(since === null && { [drainSinceAnnotation]: now.toISOString() }),
  },
});

/** After it the machine may reboot. */
export const answerChange = (node: Node, wish: DrainRequest): NodeChange => ({
  annotations: {
    ...protectNode(node),
    [nodeAnnotations.lastAppliedDrain]: wish.text,
    [drainSinceAnnotation]: null,
    [drainBlockedAnnotation]: null,
  },
});

/** `released`: what ends the protection of the node, if it ends with the update. */
export const uncordonChange = (wish: DrainRequest, ours: boolean, released: NodeChange['annotations']): NodeChange => ({
  ...(ours && { unschedulable: null }),
  annotations: {
    ...released,
    [nodeAnnotations.lastAppliedDrain]: wish.text,
    ...(ours && { [cordonedAnnotation]: null }),
    [drainSinceAnnotation]: null,
    [drainBlockedAnnotation]: null,
  },
});

export const disownChange: NodeChange = { annotations: { [cordonedAnnotation]: null } };

export const unblockChange: NodeChange = { annotations: { [drainBlockedAnnotation]: null } };

export const protectChange = (node: Node): NodeChange => ({ annotations: protectNode(node) });

export const releaseChange = (node: Node): NodeChange => ({ annotations: releaseNode(node) });

const blockedChange = (text: string): NodeChange => ({
  annotations: { [drainBlockedAnnotation]: text === '' ? null : text },
});

// Publishes on the Node what blocks its drain. The conditions of the daemon and the rollout read it there.

/** How many blocking pods a message names. */
const MAX_NAMED_PODS = 5;

export interface DrainBlockers {
  readonly refused: readonly Refusal[];
  readonly stuck: readonly PodFacts[];
  readonly budgets: BudgetLookup;
  /** The drain takes so long that a user must act. */
  readonly isLoud: boolean;
}

/** Writes only a change. */
export async function reportBlocked(node: Stored<Node>, blockers: DrainBlockers, context: Context): Promise<void> {
  const { write, events, log } = context;
  const text = await describeBlockers(blockers, context);
  const { blocked } = readDrainFacts(node);
  if (text !== blocked) {
    await patchNode(node, blockedChange(text), write);
    log.info({ text }, text === '' ? 'the drain is no longer blocked' : 'the drain is blocked');
  }
  if (text === '') return;
  if (blockers.isLoud) events.record(nodes, node, { type: 'Warning', reason: 'FailedToDrain', message: text });
  else if (blocked === '') events.record(nodes, node, { type: 'Normal', reason: 'Drain', message: text });
}

/** The node is drained, but a health check could replace its machine while it reboots. */
export async function reportUnprotected(
  node: Stored<Node>,
  why: string,
  isLoud: boolean,
  context: Context,
): Promise<void> {
  const text = `The node is drained, and waits until no MachineHealthCheck can replace its machine: ${why}`;
  const isNew = text !== readDrainFacts(node).blocked;
  if (isNew) {
    await patchNode(node, blockedChange(text), context.write);
    context.log.warn({ text }, 'the drain is blocked');
  }
  if (isNew || isLoud) context.events.record(nodes, node, { type: 'Warning', reason: 'FailedToDrain', message: text });
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
