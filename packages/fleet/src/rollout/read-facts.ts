import { maskSecrets } from '@slipway/base/masking';
import { parseOsMajor } from '../os-streams/os-major.ts';
import { isControlPlanePool } from '../pool-membership.ts';
import type { MachineConfigPool, Node } from '@slipway/api';
import {
  cordonedAnnotation,
  drainBlockedAnnotation,
  nodeAnnotations,
  NOT_YET_SET,
  reportedConfigAnnotation,
  rolloutHistoryAnnotation,
  rolloutStateAnnotation,
  targetConfigAnnotation,
  targetReasonAnnotation,
} from '@slipway/api/names';
import type { NodeFacts, DaemonState, PoolFacts, RolloutProblem, RolloutRecord } from './facts.ts';
import { decodeHistory, decodeState } from './memory.ts';
import { maxUnavailableProblem, parseRolloutPolicy } from './policy.ts';

// Why and when a Node was assigned its desired config, as one annotation: `<time> <why>`.

/** Prefix of the reason if the node had failed at another config: see NodeFacts.wasFailing. */
export const AFTER_FAILURE = 'it failed before: ';

/** Prefix of the reason if the node reported the config before it was assigned: see NodeFacts.hadItBefore. */
export const ALREADY_RUNS = 'already runs ';

const MAX_REASON = 500;

export const targetReason = (at: number, why: string): string =>
  `${new Date(at).toISOString()} ${why.slice(0, MAX_REASON)}`;

export interface TargetReason {
  /** Null: the annotation has no time. */
  readonly givenAt: number | null;
  readonly why: string;
  readonly wasFailing: boolean;
  readonly hadItBefore: boolean;
}

/** Any client may have written the annotation: a text without a time is returned as the reason. */
export function parseTargetReason(annotation: string | undefined): TargetReason {
  const [, time = '', why = ''] = /^(\S{20,30}) (.*)$/s.exec(annotation ?? '') ?? [];
  const givenAt = Date.parse(time);
  if (Number.isNaN(givenAt)) {
    return { givenAt: null, why: (annotation ?? '').slice(0, MAX_REASON), wasFailing: false, hadItBefore: false };
  }
  return { givenAt, why, ...readReason(why) };
}

/** What the reason of an assignment records about the node at that time. */
export function readReason(why: string): Pick<TargetReason, 'wasFailing' | 'hadItBefore'> {
  const wasFailing = why.startsWith(AFTER_FAILURE);
  return { wasFailing, hadItBefore: why.startsWith(ALREADY_RUNS, wasFailing ? AFTER_FAILURE.length : 0) };
}

const ZONE_LABEL = 'topology.kubernetes.io/zone';
const states = ['Working', 'Done', 'Degraded', 'Rebooting', 'Unreconcilable'] as const;
const MAX_TEXT = 2000;
/** The daemon ends its reason with a code. */
const DRIFT_ENDING = ' [SLW_DAEMON_DRIFT]';

export function readNodeFacts({ metadata, spec, status }: Node): NodeFacts {
  const { annotations = {}, labels = {} } = metadata;
  const createdAt = parseTime(metadata.creationTimestamp);
  const { givenAt, wasFailing, hadItBefore } = parseTargetReason(annotations[targetReasonAnnotation]);
  const isCordoned = spec?.unschedulable === true;
  const state = stateIn(annotations[nodeAnnotations.state]);
  const reason = annotations[nodeAnnotations.reason];
  return {
    name: metadata.name,
    createdAt,
    zone: textIn(labels[ZONE_LABEL]),
    current: configIn(annotations[nodeAnnotations.currentConfig]),
    desired: configIn(annotations[nodeAnnotations.desiredConfig]),
    state,
    // Another daemon may have written it. Conditions of the pool quote it.
    reason: maskSecrets(textIn(reason)),
    reportedConfig: configIn(annotations[reportedConfigAnnotation]),
    hasDrifted: state === 'Degraded' && reason?.endsWith(DRIFT_ENDING) === true,
    ...readReadiness(status?.conditions ?? [], createdAt),
    isCordoned,
    isCordonedByUs: isCordoned && annotations[cordonedAnnotation] !== undefined,
    awaitsDrain: awaitsDrain(annotations),
    drainBlocked: textIn(annotations[drainBlockedAnnotation]),
    osImage: textIn(status?.nodeInfo?.osImage),
    givenAt,
    wasFailing,
    hadItBefore,
    isBeingDeleted: metadata.deletionTimestamp !== undefined,
  };
}

function awaitsDrain(annotations: Readonly<Record<string, string>>): boolean {
  const requested = annotations[nodeAnnotations.desiredDrain];
  return requested?.startsWith('drain-') === true && requested !== annotations[nodeAnnotations.lastAppliedDrain];
}

const textIn = (text: string | undefined): string => (text === undefined ? '' : text.slice(0, MAX_TEXT));

const configIn = (text: string | undefined): string | null =>
  text === undefined || text === '' || text === NOT_YET_SET ? null : text;

const stateIn = (text: string | undefined): DaemonState => states.find((state) => state === text) ?? null;

function parseTime(text: string | undefined): number {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? 0 : time;
}

type Conditions = NonNullable<NonNullable<Node['status']>['conditions']>;

/** Ready, and neither DiskPressure nor NetworkUnavailable. A Node whose kubelet never reported is not ready. */
function readReadiness(
  conditions: Conditions,
  createdAt: number,
): Pick<NodeFacts, 'isReady' | 'notReady' | 'readyChangedAt'> {
  const ready = conditions.find(({ type }) => type === 'Ready');
  const troubles = conditions.filter(
    ({ type, status }) => (type === 'DiskPressure' || type === 'NetworkUnavailable') && status === 'True',
  );
  const isReady = ready?.status === 'True';
  const why = ready === undefined ? 'the kubelet has not reported yet' : (ready.message ?? `Ready is ${ready.status}`);
  const notReady = [...(isReady ? [] : [why]), ...troubles.map(({ type, message = 'True' }) => `${type}: ${message}`)];
  const changed = (isReady ? [ready, ...troubles] : [ready]).map((each) => parseTime(each?.lastTransitionTime));
  return {
    isReady: notReady.length === 0,
    notReady: notReady.join('; ').slice(0, MAX_TEXT),
    readyChangedAt: Math.max(createdAt, ...changed),
  };
}

// Reads a MachineConfigPool and its annotations, with the problems found in them.

export interface ReadPool {
  readonly pool: PoolFacts;
  /** Newest first. */
  readonly history: readonly RolloutRecord[];
  readonly problems: readonly RolloutProblem[];
}

export function readPoolFacts({ metadata, spec, status }: MachineConfigPool): ReadPool {
  const { name, annotations = {} } = metadata;
  const { policy, problems: policyProblems } = parseRolloutPolicy(annotations);
  const state = read(annotations[rolloutStateAnnotation], decodeState);
  const history = read(annotations[rolloutHistoryAnnotation], decodeHistory);
  const problems: (RolloutProblem | null)[] = [
    ...policyProblems,
    maxUnavailableProblem(name, spec.maxUnavailable),
    state.isDamaged ? damaged(name, rolloutStateAnnotation, 'The rollout restarts from its first wave') : null,
    history.isDamaged ? damaged(name, rolloutHistoryAnnotation, 'The history starts from scratch') : null,
  ];
  return {
    pool: {
      name,
      isControlPlane: isControlPlanePool(name),
      newest: nameIn(spec.configuration?.name),
      held: nameIn(annotations[targetConfigAnnotation]),
      isPaused: spec.paused === true,
      maxUnavailable: spec.maxUnavailable,
      policy,
      proven: nameIn(status?.configuration?.name),
      state: state.value,
    },
    history: history.value ?? [],
    problems: problems.filter((each) => each !== null),
  };
}

const nameIn = (text: string | undefined): string | null => (text === undefined || text === '' ? null : text);

function read<T>(
  text: string | undefined,
  decode: (text: string) => T | null,
): { value: T | null; isDamaged: boolean } {
  const value = text === undefined ? null : decode(text);
  return { value, isDamaged: text !== undefined && value === null };
}

const damaged = (pool: string, annotation: string, meaning: string): RolloutProblem => ({
  code: 'SLW_ROLLOUT_MEMORY',
  message: `MachineConfigPool ${pool}: annotation ${annotation}: expected the JSON that the rollout controller wrote, found something else. ${meaning}. Do not edit this annotation`,
});

/** The highest OS major version of the machines that run a config, as their kubelets report it; null: not known. */
export function highestMajor(nodes: readonly NodeFacts[], runs: (config: string | null) => boolean): number | null {
  let highest: number | null = null;
  for (const { current, osImage } of nodes) {
    const major = runs(current) ? parseOsMajor(osImage) : null;
    if (major !== null && (highest === null || major > highest)) highest = major;
  }
  return highest;
}
