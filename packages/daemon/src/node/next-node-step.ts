// Decides what a node does next, from what is observed and what happened since the daemon started. Pure: node-loop.ts
// executes one action, then calls this again.
import type { MachineConfiguration } from '@slipway/api';
import { backoffMs } from '@slipway/base/backoff';
import { addTolerated } from '@slipway/fleet';
import { again, done, type Next } from '@slipway/kube';
import type { UpdateRequest, UpdateResult } from '../apply/updater.ts';
import { isTransient, type Problem } from '../problem.ts';
import { type NodeSnapshot, buildUpdateScope, type UpdateScope } from '../report/snapshot.ts';
import type { StoredConfig } from '../stored-config.ts';
import { formatDrainRequest, type NodeAnnotations, formatUncordonRequest, needsUncordon } from './cluster-view.ts';
import type { NodeMemory } from './local-node.ts';
import type { PrepareResult } from './prepare-update.ts';

export interface ObservedNode {
  /** Monotonic, in milliseconds. */
  readonly now: number;
  /** The config that the disk is at. Null: unknown. */
  readonly current: string | null;
  readonly memory: NodeMemory;
  readonly said: NodeAnnotations;
  readonly settings: MachineConfiguration['spec'] | undefined;
  readonly isForced: boolean;
  /** Human-readable: the drift that the watch found. '' for none. */
  readonly drift: string;
}

/** What happened since the daemon started and still matters. */
export interface StepState {
  /** The result of an update that was not acted on yet. */
  readonly ended: UpdateResult | null;
  /** The last update could not be finished: the machine is neither at the old config nor at the new one. */
  readonly isUnfinished: boolean;
  readonly goesDown: boolean;
  /** When the update that failed for a temporary reason is retried, monotonic in milliseconds. Null: immediately. */
  readonly retryAt: number | null;
  /** The last refusal to start an update. */
  readonly answer: UpdateAnswer | null;
  /** Set by the previous action of the same step. */
  readonly noConfig: Problem | null;
  readonly prepared: PrepareResult | null;
}

export type StepAction = { readonly memory?: NodeMemory; readonly isOSFailure?: boolean } & (
  | { readonly type: 'wait'; readonly next: Next }
  /** `memory` is stored first. `endsUpdate`: the update is over afterwards. */
  | {
      readonly type: 'report';
      readonly snapshot: Partial<NodeSnapshot>;
      readonly endsUpdate?: boolean;
      /** For the log. */
      readonly warning?: string;
      readonly next: Next;
    }
  | { readonly type: 'recover' }
  /** The machine is at a config again. Drift detection resumes. */
  | { readonly type: 'conclude' }
  | { readonly type: 'find first config' }
  | {
      readonly type: 'prepare';
      readonly target: string;
      readonly isForced: boolean;
      /** It was prepared before its drain. */
      readonly isPrepared: boolean;
      readonly isDrained: boolean;
      /** Already reported, for the same question. */
      readonly isTold: boolean;
    }
  /** The new config changes nothing on the machine except the name. */
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
  /** Valid from the start of the action. */
  readonly state: StepState;
}

type PreparedUpdate = Extract<PrepareResult, { type: 'ready' }>;
type Prepare = Extract<StepAction, { type: 'prepare' }>;
type Report = Extract<StepAction, { type: 'report' }>;

/** For outside conditions that no watch reports. */
const RETRY_MS = 60_000;
const RECOVER_MS = 30_000;

/** `recovered`: the result of the recovery at startup. */
export const createStepState = (recovered: UpdateResult): StepState => ({
  ended: recovered.outcome === 'none' ? null : recovered,
  isUnfinished: false,
  goesDown: false,
  retryAt: null,
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
  const settled = { ...state, ended: null, isUnfinished: false };
  switch (ended.outcome) {
    case 'none':
      return { action: { type: 'conclude' }, state: settled };
    case 'new':
      return { action: { type: 'conclude', memory: buildNewMemory(memory) }, state: settled };
    case 'rebooting':
      return { action: report({ phase: 'rebooting' }), state: { ...settled, goesDown: true } };
    case 'stuck': {
      const snapshot = { ...toDegraded(ended.problem), phase: 'applying files', currentConfig: null } as const;
      // Recovery continues whether or not this report succeeds.
      return { action: report(snapshot, again(RECOVER_MS)), state: { ...state, ended: null, isUnfinished: true } };
    }
    case 'old': {
      const { problem } = ended;
      const past = { memory: buildOldMemory(memory, ended), isOSFailure: problem.code === 'SLW_DAEMON_OS' };
      if (!ended.rebooting) {
        const { tries } = past.memory.failed ?? {};
        const retryAt = tries === undefined ? null : now + backoffMs(BACKOFF, tries);
        return { action: { type: 'conclude', ...past }, state: { ...settled, retryAt } };
      }
      const undone = { ...problem, state: 'Degraded', undo: 'under way' } as const;
      return {
        action: { ...report({ phase: 'rebooting', problem: undone }), ...past },
        state: { ...settled, goesDown: true },
      };
    }
  }
}

function buildNewMemory({ failed: _failed, held: _held, willLack, ...rest }: NodeMemory): NodeMemory {
  return { ...rest, ...(willLack !== undefined && { lacks: willLack }) };
}

function buildOldMemory(
  { update: _update, failed, held: _held, willLack: _lack, ...rest }: NodeMemory,
  { target, problem, rebooting }: Extract<UpdateResult, { outcome: 'old' }>,
): NodeMemory {
  if (!isTransient(problem)) return { ...rest, failed: { target, problem } };
  const tries = (failed?.target === target ? failed.tries : undefined) ?? 0;
  // The same failure is concluded again after the reboot, and counted then.
  return { ...rest, failed: { target, problem, tries: rebooting ? tries : tries + 1 } };
}

/**
 * The disk does not name its config. The one from the first boot or the cluster is adopted if the machine matches it.
 */
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
  /** Annotations of the Node. Null: not set. */
  readonly said: { readonly currentConfig: string | null; readonly desiredConfig: string | null };
  readonly memory: NodeMemory;
  /** An administrator with access to the machine forces the update. */
  readonly isForced: boolean;
}

export type ConfigDecision =
  /** The node has its desired config, or is assigned none. */
  | { readonly type: 'stay' }
  | { readonly type: 'update'; readonly target: string }
  /** The cluster does not know this machine's config, so no user can have meant to roll back to `target`. */
  | { readonly type: 'hold'; readonly target: string }
  /** The target was tried and rolled back, and the reason would repeat. */
  | { readonly type: 'give up'; readonly problem: Problem };

/** Decides whether the node follows the config that it is assigned. */
export function decideConfig({ current, said, memory, isForced }: NodeFacts): ConfigDecision {
  const target = said.desiredConfig;
  if (target === null || target === current) return { type: 'stay' };
  if (isForced) return { type: 'update', target };
  if (memory.held === target || isClusterOutdated(current, said.currentConfig, memory)) return { type: 'hold', target };
  const { failed } = memory;
  if (failed?.target === target && failed.tries === undefined) return { type: 'give up', problem: failed.problem };
  return { type: 'update', target };
}

/**
 * The Node names a current config that the machine neither has nor has reported: the cluster was restored from an older
 * backup, or a user edited the annotation. A machine that has just updated may not have reported it yet, so that is not
 * a sign.
 */
export function isClusterOutdated(current: string, said: string | null, { reported = current }: NodeMemory): boolean {
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

/** The machine is at its desired or its previous config: it is uncordoned if it was drained. */
function settle({ current, said, memory }: SettledNode, more: Partial<NodeSnapshot>, next = done()): Report {
  if (needsUncordon(current, said))
    return report({ phase: 'uncordoning', desiredDrain: formatUncordonRequest(current), ...more }, next);
  // The end of an update is reported separately, so that its last conditions become True for clients that wait for them.
  const isComplete = memory.update?.target === current && (more.problem ?? null) === null;
  if (isComplete) return { ...report({ phase: 'resumed' }, again(0)), endsUpdate: true };
  return { ...report({ update: null, ...more }, next), endsUpdate: true };
}

const toRolledBack = (problem: Problem): Pick<NodeSnapshot, 'problem'> => ({
  problem: { ...problem, state: 'Degraded', undo: 'done' },
});

function hold({ current, memory }: SettledNode, target: string): Report {
  const message =
    `the disk is at ${current}, but the cluster requests ${target} and does not know of that config. The cluster was ` +
    'probably restored from an older backup. Nothing was changed. Assign another config to the node, or create ' +
    '/run/machine-config-daemon-force on the machine to apply this one anyway';
  return {
    ...report(toDegraded({ code: 'SLW_DAEMON_CLUSTER_OLDER', message })),
    memory: { ...memory, held: target },
    warning: 'the cluster does not know the config on this disk: holding the update',
  };
}

const BACKOFF = { firstMs: 60_000, maxMs: 30 * 60_000 };

/** After a failure that the config did not cause, the update is retried with backoff. Null: it is due. */
function waitToRetry(observed: SettledNode, state: StepState, target: string): NodeStep | null {
  const { failed } = observed.memory;
  const { retryAt } = state;
  if (observed.isForced || failed?.target !== target || retryAt === null || retryAt <= observed.now) return null;
  return { action: settle(observed, toRolledBack(failed.problem), again(retryAt - observed.now)), state };
}

interface UpdateQuestion {
  readonly target: string;
  readonly isDrained: boolean;
  /** Everything that the answer depends on, except the machine itself. */
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

/** Null: the machine must be checked. */
function repeatAnswer(observed: SettledNode, answer: UpdateAnswer['answer'], target: string): Report | null {
  if (answer.type !== 'drain') return refuse(answer, target);
  // Drift is reported by its watch, and blocks the update whether or not the node is drained.
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
  // The download took time since the last check: check again right before applying.
  if (preflight === null) return { action: { ...prepare({ ...observed, memory }, question, true), memory }, state };
  return {
    action: {
      type: 'apply',
      memory: { ...memory, willLack: lacks },
      update: { to: target, plan, preflight },
      takesForceFile: observed.isForced,
      // The next step handles the result, with a fresh view of the Node.
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
 * The last refusal to start an update. Reporting it triggers another step, and a Node changes every few seconds, so the
 * answer to the same question is reused for a while.
 */
export interface UpdateAnswer {
  readonly question: string;
  /** `drain`: it can start once the pods are gone. */
  readonly answer: PrepareRefusal | { readonly type: 'drain' };
  /** Afterwards the machine, the cluster and the registry are checked again. */
  readonly until: number;
}

export const ANSWER_TTL_MS = 60_000;

export function recordAnswer(question: string, answer: UpdateAnswer['answer'], now: number): UpdateAnswer {
  return { question, answer, until: now + computeAnswerTtl(answer) };
}

/** Null: there is no answer, or it has expired. */
export function findValidAnswer(
  last: UpdateAnswer | null,
  question: string,
  now: number,
): UpdateAnswer['answer'] | null {
  return last !== null && last.question === question && last.until > now ? last.answer : null;
}

/** The watch reports when drift disappears, and the machine is then checked immediately. */
const computeAnswerTtl = (answer: UpdateAnswer['answer']): number =>
  answer.type === 'refused' && answer.cause === 'drift' ? 0 : ANSWER_TTL_MS;

/** For an update that is not planned yet. */
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
