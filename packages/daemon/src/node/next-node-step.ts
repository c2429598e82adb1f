// What a node does next: decided from what is observed of it and from what happened to it since the daemon started. Nothing
// is read or written here; node-loop.ts carries one action out and asks again.
import type { MachineConfiguration } from '@slipway/api';
import { backoffMs } from '@slipway/base/backoff';
import { addTolerated } from '@slipway/fleet';
import { again, done, type Next } from '@slipway/kube';
import type { UpdateRequest, UpdateResult } from '../apply/updater.ts';
import type { Problem } from '../problem.ts';
import { type NodeSnapshot, buildUpdateScope, type UpdateScope } from '../report/snapshot.ts';
import type { StoredConfig } from '../stored-config.ts';
import { formatDrainRequest, type NodeAnnotations, formatUncordonRequest, needsUncordon } from './cluster-view.ts';
import type { NodeMemory } from './local-node.ts';
import type { PrepareResult } from './prepare-update.ts';

export interface ObservedNode {
  /** Milliseconds of a clock that only grows. */
  readonly now: number;
  /** The config that the disk is at; null: it does not say. */
  readonly current: string | null;
  readonly memory: NodeMemory;
  /** The annotations of the Node. */
  readonly said: NodeAnnotations;
  /** The spec of the MachineConfiguration. */
  readonly settings: MachineConfiguration['spec'] | undefined;
  readonly isForced: boolean;
  /** For people: what the watch for drift found; '' for nothing. */
  readonly drift: string;
}

/** What happened since the daemon started, as far as it still matters. */
export interface StepState {
  /** How an update ended that nothing followed from yet. */
  readonly ended: UpdateResult | null;
  /** The last update could not be brought to an end: the machine is neither old nor new. */
  readonly isUnfinished: boolean;
  readonly goesDown: boolean;
  readonly retry: Retry | null;
  /** To the last question whether an update can begin, if it was no. */
  readonly answer: UpdateAnswer | null;
  /** Found out by the action before, within the same step. */
  readonly noConfig: Problem | null;
  readonly prepared: PrepareResult | null;
}

export type StepAction = { readonly memory?: NodeMemory; readonly isOSFailure?: boolean } & (
  | { readonly type: 'wait'; readonly next: Next }
  /** `memory` is remembered first; `endsUpdate`: after it, the update is over. */
  | {
      readonly type: 'report';
      readonly snapshot: Partial<NodeSnapshot>;
      readonly endsUpdate?: boolean;
      /** For the log. */
      readonly warning?: string;
      readonly next: Next;
    }
  | { readonly type: 'recover' }
  /** The machine is at one config again, and is watched for drift from it. */
  | { readonly type: 'conclude' }
  | { readonly type: 'find first config' }
  | {
      readonly type: 'prepare';
      readonly target: string;
      readonly isForced: boolean;
      /** It was, before its drain. */
      readonly isPrepared: boolean;
      readonly isDrained: boolean;
      /** Told before, for the same question came up before. */
      readonly isTold: boolean;
    }
  /** Nothing differs for the machine: only its name is new. */
  | { readonly type: 'adopt'; readonly config: StoredConfig; readonly lacks: NonNullable<NodeMemory['lacks']> }
  | {
      readonly type: 'apply';
      readonly update: Omit<UpdateRequest, 'from'>;
      readonly takesForceFile: boolean;
      readonly next: Next;
    }
);

export interface NodeStep {
  readonly action: StepAction;
  /** Holds from the moment the action begins. */
  readonly state: StepState;
}

type PreparedUpdate = Extract<PrepareResult, { type: 'ready' }>;
type Prepare = Extract<StepAction, { type: 'prepare' }>;
type Report = Extract<StepAction, { type: 'report' }>;

/** What depends on something outside that no watch tells of. */
const RETRY_MS = 60_000;
const RECOVER_MS = 30_000;

/** `recovered`: what the recovery at the start came to. */
export const createStepState = (recovered: UpdateResult): StepState => ({
  ended: recovered.outcome === 'none' ? null : recovered,
  isUnfinished: false,
  goesDown: false,
  retry: null,
  answer: null,
  noConfig: null,
  prepared: null,
});

export function nextNodeStep(observed: ObservedNode, state: StepState): NodeStep {
  if (state.goesDown) return { action: { type: 'wait', next: done() }, state };
  if (state.ended !== null) return conclude(observed, state, state.ended);
  if (state.isUnfinished) return { action: { type: 'recover' }, state };
  if (observed.current === null) return withoutConfig(state);
  return follow({ ...observed, current: observed.current }, state);
}

function conclude({ memory, now }: ObservedNode, state: StepState, ended: UpdateResult): NodeStep {
  const settled = { ...state, isUnfinished: false };
  switch (ended.outcome) {
    case 'none':
      return { action: { type: 'conclude' }, state: settled };
    case 'new':
      return { action: { type: 'conclude', memory: buildNewMemory(memory) }, state: settled };
    case 'rebooting':
      return { action: report({ phase: 'rebooting' }), state: { ...settled, ended: null, goesDown: true } };
    case 'stuck': {
      const snapshot = { ...toDegraded(ended.problem), phase: 'applying files', currentConfig: null } as const;
      // Recovered whether or not the cluster takes this.
      return { action: report(snapshot, again(RECOVER_MS)), state: { ...state, ended: null, isUnfinished: true } };
    }
    case 'old': {
      const { target, problem } = ended;
      const retry = isTransient(problem) ? nextRetry(state.retry, target, problem, now) : state.retry;
      const past = { memory: buildOldMemory(memory, ended), isOSFailure: problem.code === 'SLW_DAEMON_OS' };
      if (!ended.rebooting) return { action: { type: 'conclude', ...past }, state: { ...settled, retry } };
      const undone = { ...problem, state: 'Degraded', undo: 'under way' } as const;
      return {
        action: { ...report({ phase: 'rebooting', problem: undone }), ...past },
        state: { ...settled, retry, ended: null, goesDown: true },
      };
    }
  }
}

function buildNewMemory({ failed: _failed, held: _held, willLack, ...rest }: NodeMemory): NodeMemory {
  return { ...rest, ...(willLack !== undefined && { lacks: willLack }) };
}

function buildOldMemory(
  { update: _update, failed: _failed, held: _held, willLack: _lack, ...rest }: NodeMemory,
  { target, problem }: Extract<UpdateResult, { outcome: 'old' }>,
): NodeMemory {
  return isTransient(problem) ? rest : { ...rest, failed: { target, problem } };
}

/** The disk does not say what it is at: as the first boot or the cluster has it, if the machine really is that. */
function withoutConfig(state: StepState): NodeStep {
  if (state.noConfig === null) return { action: { type: 'find first config' }, state };
  return { action: report(toDegraded(state.noConfig), again(RETRY_MS)), state: { ...state, noConfig: null } };
}

type SettledNode = ObservedNode & { readonly current: string };

function follow(observed: SettledNode, state: StepState): NodeStep {
  const decision = decideConfig(observed);
  switch (decision.type) {
    case 'stay':
      return { action: stay(observed), state };
    case 'hold':
      return { action: hold(observed, decision.target), state };
    case 'give up':
      return { action: settle(observed, toRolledBack(decision.problem)), state };
    case 'update':
      return waitToRetry(observed, state, decision.target) ?? update(observed, state, decision.target);
  }
}

export interface NodeFacts {
  /** The config that the disk is at. */
  readonly current: string;
  /** What the Node object says; null: nothing. */
  readonly said: { readonly currentConfig: string | null; readonly desiredConfig: string | null };
  readonly memory: NodeMemory;
  /** Somebody with access to the machine has said to go on all the same. */
  readonly isForced: boolean;
}

export type ConfigDecision =
  /** It has the config it is to have, or is told of none. */
  | { readonly type: 'stay' }
  | { readonly type: 'update'; readonly target: string }
  /** The cluster knows less of this machine than the machine itself: nobody asked for the way back to `target`. */
  | { readonly type: 'hold'; readonly target: string }
  /** This one was tried, and the machine went back. */
  | { readonly type: 'give up'; readonly problem: Problem };

/** What a node does about the config it is told to have. */
export function decideConfig({ current, said, memory, isForced }: NodeFacts): ConfigDecision {
  const target = said.desiredConfig;
  if (target === null || target === current) return { type: 'stay' };
  if (isForced) return { type: 'update', target };
  if (memory.held === target || isClusterOutdated(current, said.currentConfig, memory)) return { type: 'hold', target };
  if (memory.failed?.target === target) return { type: 'give up', problem: memory.failed.problem };
  return { type: 'update', target };
}

/**
 * The Node names another current config than the one this machine has and has told it of: the cluster was restored from an
 * older backup, or somebody wrote the annotation. A machine that has just changed has not told it yet, so that is no sign.
 */
function isClusterOutdated(current: string, said: string | null, { reported = current }: NodeMemory): boolean {
  return said !== null && said !== current && said !== reported;
}

function stay(observed: SettledNode): Report {
  const { failed: _failed, held: _held, ...memory } = observed.memory;
  const { drift } = observed;
  return {
    ...settle(observed, drift === '' ? {} : toDegraded({ code: 'SLW_DAEMON_DRIFT', message: drift })),
    memory,
  };
}

/** The machine is what it should be, or was before: its pods may come back, if they were sent away. */
function settle({ current, said }: SettledNode, more: Partial<NodeSnapshot>, next = done()): Report {
  return needsUncordon(current, said)
    ? report({ phase: 'uncordoning', desiredDrain: formatUncordonRequest(current), ...more }, next)
    : { ...report({ update: null, ...more }, next), endsUpdate: true };
}

const toRolledBack = (problem: Problem): Pick<NodeSnapshot, 'problem'> => ({
  problem: { ...problem, state: 'Degraded', undo: 'done' },
});

function hold({ current, memory }: SettledNode, target: string): Report {
  const message =
    `the disk of this machine is at ${current}, but the cluster asked for ${target} without knowing that: it was ` +
    'probably restored from an older state. Nothing is changed. Let the node have another target than that one, or ' +
    'create /run/machine-config-daemon-force on the machine to go there all the same';
  return {
    ...report(toDegraded({ code: 'SLW_DAEMON_CLUSTER_OLDER', message })),
    memory: { ...memory, held: target },
    warning: 'the cluster knows less of this machine than its disk',
  };
}

/** Null: nothing is waited for. */
function waitToRetry(observed: SettledNode, state: StepState, target: string): NodeStep | null {
  const { retry } = state;
  if (observed.isForced || retry?.target !== target || retry.notBefore <= observed.now) return null;
  return { action: settle(observed, toRolledBack(retry.problem), again(retry.notBefore - observed.now)), state };
}

/** After a failure that says nothing of the config: the update is tried again by itself, more and more slowly. */
export interface Retry {
  readonly target: string;
  readonly problem: Problem;
  readonly tries: number;
  /** Milliseconds of a clock that only grows. */
  readonly notBefore: number;
}

/** A disk that was full, or systemd that was on its way down. Everything else would fail the same way again. */
const TRANSIENT_CODES: ReadonlySet<string> = new Set(['SLW_DAEMON_DISK', 'SLW_DAEMON_SYSTEMD']);
const BACKOFF = { firstMs: 60_000, maxMs: 30 * 60_000 };

export function isTransient({ code }: Problem): boolean {
  return TRANSIENT_CODES.has(code);
}

/** `before` is that of the last failure, perhaps of another target. */
export function nextRetry(before: Retry | null, target: string, problem: Problem, now: number): Retry {
  const tries = before?.target === target ? before.tries + 1 : 1;
  return { target, problem, tries, notBefore: now + backoffMs(BACKOFF, tries) };
}

interface UpdateQuestion {
  readonly target: string;
  readonly isDrained: boolean;
  /** All that the answer depends on, but for the machine itself. */
  readonly text: string;
}

function update(observed: SettledNode, state: StepState, target: string): NodeStep {
  const { now, current, isForced, settings, said } = observed;
  const isDrained = said.lastAppliedDrain === formatDrainRequest(target);
  const text = JSON.stringify([current, target, isForced, settings ?? null, isDrained]);
  const question = { target, isDrained, text };
  const { prepared, answer } = state;
  if (prepared === null) {
    const validAnswer = findValidAnswer(answer, text, now);
    const action = validAnswer === null ? null : repeatAnswer(observed, validAnswer, target);
    return { action: action ?? prepare(observed, question, answer?.question === text), state };
  }
  if (prepared.type === 'ready') return startUpdate(observed, { ...state, prepared: null }, question, prepared);
  return {
    action: refuse(prepared, target),
    state: { ...state, prepared: null, answer: recordAnswer(text, prepared, now) },
  };
}

/** Null: the machine has to be looked at. */
function repeatAnswer(observed: SettledNode, answer: UpdateAnswer['answer'], target: string): Report | null {
  if (answer.type !== 'drain') return refuse(answer, target);
  // Drift is heard of, and keeps an update from starting whether or not the pods are gone.
  return observed.drift === '' ? drain(observed, target) : null;
}

function prepare({ memory, isForced }: SettledNode, { target, isDrained }: UpdateQuestion, isKnown: boolean): Prepare {
  const isPrepared = memory.update?.target === target;
  return { type: 'prepare', target, isForced, isPrepared, isDrained, isTold: isPrepared || isKnown };
}

function startUpdate(
  observed: SettledNode,
  before: StepState,
  question: UpdateQuestion,
  { target, plan, preflight }: PreparedUpdate,
): NodeStep {
  const memory = { ...observed.memory, update: buildUpdateScope(plan) };
  const lacks = addTolerated(memory.lacks ?? [], plan.tolerated);
  const state = { ...before, answer: null };
  if (plan.isEmpty) return { action: { type: 'adopt', memory, config: target, lacks }, state };
  if (plan.needsDrain && !question.isDrained) {
    const answer = recordAnswer(question.text, { type: 'drain' }, observed.now);
    return { action: { ...drain(observed, target.name), memory }, state: { ...state, answer } };
  }
  // It was looked at before a download: once more, and nothing comes in between.
  if (preflight === null) return { action: { ...prepare({ ...observed, memory }, question, true), memory }, state };
  return {
    action: {
      type: 'apply',
      memory: { ...memory, willLack: lacks },
      update: { to: target, plan, preflight },
      takesForceFile: observed.isForced,
      // What it came to is dealt with in the next step, which looks at the Node anew.
      next: again(0),
    },
    state,
  };
}

function drain({ said: { drainBlocked } }: SettledNode, target: string): Report {
  return report({ phase: 'draining', desiredDrain: formatDrainRequest(target), drainBlocked });
}

function refuse(refused: PrepareRefusal, target: string): Report {
  const snapshot = { phase: 'preparing', update: buildUnknownScope(target) } as const;
  if (refused.type === 'refused') return report({ ...snapshot, ...toDegraded(refused.problem) }, again(RETRY_MS));
  const problem = { ...refused.problem, state: 'Unreconcilable' } as const;
  return report({ ...snapshot, problem, irreconcilable: refused.changes });
}

export type PrepareRefusal = Exclude<PrepareResult, { type: 'ready' }>;

/**
 * To the last question whether an update can begin, if it was no. What a node says of the answer wakes the node again, and a
 * Node changes every few seconds: the same question then has the same answer, for a while.
 */
export interface UpdateAnswer {
  readonly question: string;
  /** `drain`: it can as soon as the pods are gone. */
  readonly answer: PrepareRefusal | { readonly type: 'drain' };
  /** After it the machine, the cluster and the registry are asked again. */
  readonly until: number;
}

export const ANSWER_TTL_MS = 60_000;

export function recordAnswer(question: string, answer: UpdateAnswer['answer'], now: number): UpdateAnswer {
  return { question, answer, until: now + computeAnswerTtl(answer) };
}

/** The answer from before, where it still holds; null: there is none. */
export function findValidAnswer(
  last: UpdateAnswer | null,
  question: string,
  now: number,
): UpdateAnswer['answer'] | null {
  return last !== null && last.question === question && last.until > now ? last.answer : null;
}

/** That drift is gone is heard of: then the machine is looked at again at once. */
const computeAnswerTtl = (answer: UpdateAnswer['answer']): number =>
  answer.type === 'refused' && answer.cause === 'drift' ? 0 : ANSWER_TTL_MS;

/** Of an update that is not planned yet. */
export const buildUnknownScope = (target: string): UpdateScope => ({
  target,
  drain: false,
  os: false,
  image: false,
  reboot: false,
  postAction: '',
});

const report = (snapshot: Partial<NodeSnapshot>, next: Next = done()): Report => ({ type: 'report', snapshot, next });

const toDegraded = (problem: Problem): Pick<NodeSnapshot, 'problem'> => ({
  problem: { ...problem, state: 'Degraded' },
});
