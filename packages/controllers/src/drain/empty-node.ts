// Has the pods of a cordoned node leave: evicts, waits, says what is in the way, and answers when all are gone.
import { type Node, nodes, podDisruptionBudgets, pods } from '@slipway/api';
import {
  budgetsOf,
  type BudgetsOf,
  drainFactsOf,
  nextDrainStep,
  type PodFacts,
  podFactsOf,
  stateOf,
} from '@slipway/fleet/drain';
import { again, type Context, done, type Next, type Stored } from '@slipway/kube';
import { evictPods } from './evict-pods.ts';
import { type Drain, type Look, lookOf, type Looks } from './looks.ts';
import { isTimeToWarn } from './pace.ts';
import { answerChange, type NodeWriter } from './patch-node.ts';
import { type Refusal, type SortedPods, sortPods } from './sort-pods.ts';
import { tellBlocked } from './tell-blocked.ts';

export interface Cordoned {
  readonly node: Stored<Node>;
  readonly drain: Drain;
  /** `node` is the answer to a write of a moment ago, and not what a watch brought some time ago. */
  readonly isFresh: boolean;
}

export interface DrainMemory {
  readonly looks: Looks;
  readonly writer: NodeWriter;
}

export async function emptyNode(
  { node, drain, isFresh }: Cordoned,
  memory: DrainMemory,
  context: Context,
): Promise<Next> {
  const { looks, writer } = memory;
  const now = context.now().getTime();
  const budgets = budgetsIn(context);
  const last = looks.last(node, drain);
  if (last !== undefined && isEarly(last, now, budgets)) return again(last.nextAt - now);
  const sorted = sortPods({
    pods: await podsOn(node.metadata.name, context),
    refused: new Map(last?.refused.map((refusal) => [refusal.pod.uid, refusal])),
    since: drain.since,
    now,
    budgetsNow: (pod) => stateOf(budgets(pod)),
  });
  if (isNobody(sorted)) return finish(node, drain, memory, context);
  const mayEvict = isFresh || sorted.evict.length === 0 || (await isStillWanted(node, drain, context));
  // The watch brings what the node asks for by now, and the node back here.
  if (!mayEvict) return done();

  const refused = [...sorted.held, ...(await evict(sorted.evict, budgets, context))];
  const look = lookOf({ sorted, refused, since: drain.since, now, last });
  looks.note(node, drain, look);
  const isLoud = isTimeToWarn(drain.since, last?.at ?? null, now);
  await tellBlocked(node, { refused, stuck: sorted.stuck, budgets, isLoud }, writer, context);
  look.isTold = true;
  return again(Math.max(0, look.nextAt - context.now().getTime()));
}

function budgetsIn({ read }: Context): BudgetsOf {
  const all = read(podDisruptionBudgets);
  return (pod) => budgetsOf(pod, all.byIndex('namespace', pod.namespace));
}

/** A Node changes all the time, and so do budgets of other pods: nothing would come of looking now. */
function isEarly({ at, nextAt, refused, isTold }: Look, now: number, budgets: BudgetsOf): boolean {
  // A clock that was put back would have us wait for the time that it was put back by.
  if (!isTold || now < at || now >= nextAt) return false;
  return refused.every((refusal) => refusal.budgets === stateOf(budgets(refusal.pod)));
}

async function podsOn(name: string, { client, signal }: Context): Promise<PodFacts[]> {
  const found: PodFacts[] = [];
  for await (const pod of client.list(pods, { fieldSelector: `spec.nodeName=${name}`, pageSize: 500, signal })) {
    const facts = podFactsOf(pod);
    if (facts !== null) found.push(facts);
  }
  return found;
}

const isNobody = ({ evict, leaving, stuck, held }: SortedPods): boolean =>
  evict.length + leaving.length + stuck.length + held.length === 0;

/** An eviction cannot be taken back, and the watch may be behind what the node asks for by now. */
async function isStillWanted({ metadata }: Stored<Node>, { wish }: Drain, context: Context): Promise<boolean> {
  const live = await context.client.find(nodes, { name: metadata.name }, { signal: context.signal });
  if (live === undefined || live.metadata.uid !== metadata.uid) return false;
  const step = nextDrainStep(drainFactsOf(live), false);
  return step.type === 'empty' && step.wish.text === wish.text;
}

async function evict(wanted: readonly PodFacts[], budgets: BudgetsOf, context: Context): Promise<Refusal[]> {
  if (wanted.length === 0) return [];
  // As they are before: what changes while we ask is a reason to ask again.
  const states = new Map(wanted.map((pod) => [pod.uid, stateOf(budgets(pod))]));
  const { client, signal, log } = context;
  const refused = await evictPods(wanted, { client, signal, countBudgets: (pod) => budgets(pod).length });
  log.info({ evicted: wanted.length - refused.length, refused: refused.length }, 'asked pods to leave');
  const at = context.now().getTime();
  return refused.map(({ pod, byBudget, message }) => ({
    pod,
    byBudget,
    message,
    at,
    budgets: states.get(pod.uid) ?? '',
  }));
}

async function finish(
  node: Stored<Node>,
  drain: Drain,
  { looks, writer }: DrainMemory,
  context: Context,
): Promise<Next> {
  await writer.patch(node, answerChange(drain.wish), context.client);
  looks.forget(node.metadata.name);
  const seconds = Math.max(0, Math.round((context.now().getTime() - drain.since) / 1000));
  const message =
    `The node is empty, but for its own pods and those of DaemonSets, ${seconds} s after the drain began: ` +
    `the update to ${drain.wish.config} goes on`;
  context.log.info({ seconds }, 'a drain is done');
  context.events.record(nodes, node, { type: 'Normal', reason: 'Drain', message });
  return done();
}
