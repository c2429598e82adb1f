// Empties a cordoned node: evicts pods, waits for them, reports what blocks them, and completes the request.
import { type Node, nodes, podDisruptionBudgets, pods } from '@slipway/api';
import {
  findBudgets,
  type BudgetLookup,
  readDrainFacts,
  type DrainStep,
  nextDrainStep,
  type PodFacts,
  readPodFacts,
  fingerprintBudgets,
} from '@slipway/fleet/drain';
import { again, type Context, done, type Next, type Stored } from '@slipway/kube';
import type { DrainMetrics } from './metrics.ts';
import { evictPods, type Refusal, computeRetryTime, type SortedPods, sortPods } from './evict-pods.ts';
import { HOUR, isTimeToWarn, computeCheckDelay, computeRetryDelay } from './intervals.ts';
import { protectMachine } from './machine-protection.ts';
import { answerChange, patchNode, reportBlocked, reportUnprotected } from './patch-node.ts';

export interface CordonedNode {
  readonly node: Stored<Node>;
  readonly drain: Drain;
  /** `node` is the response to a write a moment ago, not a possibly stale object of the watch. */
  readonly isFresh: boolean;
}

export type Drain = Extract<DrainStep, { type: 'empty' }>;

export async function emptyNode(
  { node, drain, isFresh }: CordonedNode,
  attempts: DrainAttempts,
  context: Context,
): Promise<Next> {
  const now = context.now().getTime();
  const budgets = createBudgetLookup(context);
  const last = attempts.last(node, drain);
  if (last !== undefined && isEarly(last, now, budgets)) return again(last.nextAt - now);
  const sorted = sortPods({
    pods: await listPods(node.metadata.name, context),
    refused: new Map(last?.refused.map((refusal) => [refusal.pod.uid, refusal])),
    since: drain.since,
    now,
    budgetsNow: (pod) => fingerprintBudgets(budgets(pod)),
  });
  if (isEmpty(sorted)) return completeDrain(node, drain, attempts, context);
  const mayEvict = isFresh || sorted.evict.length === 0 || (await isStillRequested(node, drain, context));
  // The watch delivers the node's current request, and triggers the next reconcile.
  if (!mayEvict) return done();

  const refused = [...sorted.held, ...(await evict(sorted.evict, budgets, context))];
  const attempt = nextAttempt({ sorted, refused, since: drain.since, now, last });
  attempts.note(node, drain, attempt);
  const isLoud = isTimeToWarn(drain.since, last?.at ?? null, now);
  await reportBlocked(node, { refused, stuck: sorted.stuck, budgets, isLoud }, context);
  attempt.isTold = true;
  return again(Math.max(0, attempt.nextAt - context.now().getTime()));
}

function createBudgetLookup({ read }: Context): BudgetLookup {
  const all = read(podDisruptionBudgets);
  return (pod) => findBudgets(pod, all.byIndex('namespace', pod.namespace));
}

/** Nodes and unrelated budgets change all the time: checking now would change nothing. */
function isEarly({ at, nextAt, refused, isTold }: DrainAttempt, now: number, budgets: BudgetLookup): boolean {
  // If the clock was set back, do not wait until it catches up.
  if (!isTold || now < at || now >= nextAt) return false;
  return refused.every((refusal) => refusal.budgets === fingerprintBudgets(budgets(refusal.pod)));
}

async function listPods(name: string, { client, signal }: Context): Promise<PodFacts[]> {
  const found: PodFacts[] = [];
  for await (const pod of client.list(pods, { fieldSelector: `spec.nodeName=${name}`, pageSize: 500, signal })) {
    const facts = readPodFacts(pod);
    if (facts !== null) found.push(facts);
  }
  return found;
}

const isEmpty = ({ evict, leaving, stuck, held }: SortedPods): boolean =>
  evict.length + leaving.length + stuck.length + held.length === 0;

/** Evictions cannot be undone, and the watch may lag behind the node's current request. */
async function isStillRequested({ metadata }: Stored<Node>, { wish }: Drain, context: Context): Promise<boolean> {
  const live = await context.client.find(nodes, { name: metadata.name }, { signal: context.signal });
  if (live === undefined || live.metadata.uid !== metadata.uid) return false;
  const step = nextDrainStep(readDrainFacts(live), false);
  return step.type === 'empty' && step.wish.text === wish.text;
}

async function evict(wanted: readonly PodFacts[], budgets: BudgetLookup, context: Context): Promise<Refusal[]> {
  if (wanted.length === 0) return [];
  // The state before the evictions: a change during them is a reason to retry.
  const states = new Map(wanted.map((pod) => [pod.uid, fingerprintBudgets(budgets(pod))]));
  const { client, signal, log } = context;
  const refused = await evictPods(wanted, { client, signal, countBudgets: (pod) => budgets(pod).length });
  log.info({ evicted: wanted.length - refused.length, refused: refused.length }, 'evicted pods');
  const at = context.now().getTime();
  return refused.map(({ pod, byBudget, message }) => ({
    pod,
    byBudget,
    message,
    at,
    budgets: states.get(pod.uid) ?? '',
  }));
}

async function completeDrain(
  node: Stored<Node>,
  drain: Drain,
  attempts: DrainAttempts,
  context: Context,
): Promise<Next> {
  const unprotected = await protectMachine(node, context);
  if (unprotected !== null) {
    const now = context.now().getTime();
    const isLoud = isTimeToWarn(drain.since, attempts.last(node, drain)?.at ?? null, now);
    // A drain that takes too long, like any other. A change of the Node is a reason to try again before the delay ends.
    attempts.note(node, drain, { at: now, nextAt: now, refused: [], evictedAt: now, isTold: true });
    await reportUnprotected(node, unprotected, isLoud, context);
    return again(computeRetryDelay(now - drain.since));
  }
  await patchNode(node, answerChange(node, drain.wish), context.write);
  attempts.forget(node.metadata.name);
  const seconds = Math.max(0, Math.round((context.now().getTime() - drain.since) / 1000));
  const message =
    `The node is drained after ${seconds} s; only static pods and DaemonSet pods are left. ` +
    `The update to ${drain.wish.config} continues`;
  context.log.info({ seconds }, 'completed a drain');
  context.events.record(nodes, node, { type: 'Normal', reason: 'Drain', message });
  return done();
}

// When a drain was last checked, and when it is due again. The state of a drain is on its Node. This is only the
// interval: a new process starts without it and checks immediately.

export interface DrainAttempt {
  readonly at: number;
  readonly nextAt: number;
  readonly refused: readonly Refusal[];
  /** When pods were last evicted. */
  readonly evictedAt: number;
  /** The result is published on the Node. */
  isTold: boolean;
}

export interface DrainAttempts {
  /** Undefined: the node was not checked for this drain yet. */
  last(node: Stored<Node>, drain: Drain): DrainAttempt | undefined;
  note(node: Stored<Node>, drain: Drain, attempt: DrainAttempt): void;
  forget(this: void, name: string): void;
  forgetAll(this: void): void;
}

export function createDrainAttempts(measured: DrainMetrics | undefined): DrainAttempts {
  /** By node name. Names are reused, so each entry also identifies its drain. */
  const attempts = new Map<string, { drain: string; attempt: DrainAttempt }>();
  const formatDrainId = ({ metadata }: Stored<Node>, { wish }: Drain): string => `${metadata.uid} ${wish.text}`;
  return {
    last(node, drain) {
      const known = attempts.get(node.metadata.name);
      return known?.drain === formatDrainId(node, drain) ? known.attempt : undefined;
    },
    note(node, drain, attempt) {
      const { name } = node.metadata;
      attempts.set(name, { drain: formatDrainId(node, drain), attempt });
      measured?.overdue(name, attempt.at - drain.since > HOUR);
    },
    forget(name) {
      if (attempts.delete(name)) measured?.overdue(name, false);
    },
    forgetAll() {
      attempts.clear();
      measured?.reset();
    },
  };
}

export interface AttemptInput {
  /** Contains at least one pod. */
  readonly sorted: SortedPods;
  /** All pods that may not be evicted, from this and earlier attempts. */
  readonly refused: readonly Refusal[];
  readonly since: number;
  readonly now: number;
  readonly last: DrainAttempt | undefined;
}

export function nextAttempt({ sorted, refused, since, now, last }: AttemptInput): DrainAttempt {
  const { evict, leaving, stuck, held } = sorted;
  const hasEvicted = evict.length > refused.length - held.length;
  const evictedAt = hasEvicted || last === undefined ? now : last.evictedAt;
  const nextAt = Math.min(
    ...(hasEvicted || leaving.length > 0 ? [now + computeCheckDelay(now - evictedAt)] : []),
    ...(stuck.length > 0 ? [now + computeRetryDelay(now - since)] : []),
    ...refused.map((refusal) => computeRetryTime(refusal, since)),
  );
  return { at: now, nextAt, refused, evictedAt, isTold: false };
}
