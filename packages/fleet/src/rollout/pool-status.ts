// The status of a MachineConfigPool: counts and conditions with the meaning that existing users rely on.
import type { MachineConfigPool } from '@slipway/api';
import type { Streams, TrackedStream } from '../os-streams/available.ts';
import { poolDeprecation } from '../os-streams/deprecation.ts';
import type { PoolPins, PoolSynchronizer } from '../pinned-images/pool-summary.ts';
import type { RolloutDecision } from './facts.ts';
import type { NodeFacts, PoolFacts, RolloutProblem } from './facts.ts';
import { isFailing, isUnavailable } from './node-state.ts';
import { formatNames } from './node-state.ts';
import { blockedDrains } from './summary.ts';

type Configuration = NonNullable<NonNullable<MachineConfigPool['status']>['configuration']>;

/** Every condition of a pool: always reported, or only while a feature is in use. */
const poolConditions = {
  Updated: 'always',
  Updating: 'always',
  NodeDegraded: 'always',
  RenderDegraded: 'always',
  Degraded: 'always',
  OSStreamDeprecated: 'while in use',
  PinnedImageSetsDegraded: 'while in use',
} as const;

/** Whether to remove a condition that the status no longer reports. Conditions of other controllers stay. */
export const goesWhenUnused = (type: string): boolean =>
  new Map<string, string>(Object.entries(poolConditions)).get(type) === 'while in use';

/** Status fields to remove when they are no longer reported. */
export const fieldsWhileInUse = ['osImageStream', 'poolSynchronizersStatus'] as const;

type ConditionType = keyof typeof poolConditions;

export interface PoolCondition<Type extends ConditionType = ConditionType> {
  readonly type: Type;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** Null: not in use. A condition that is always reported cannot be null: if it were dropped, its last value would remain. */
type Conditions = {
  readonly [Type in ConditionType]:
    | PoolCondition<Type>
    | ((typeof poolConditions)[Type] extends 'always' ? never : null);
};

export interface PoolStatus {
  readonly observedGeneration: number;
  readonly configuration?: Configuration;
  /** Undefined: remove it. */
  readonly osImageStream?: { readonly name: string } | undefined;
  /** Undefined: remove it. */
  readonly poolSynchronizersStatus?: readonly PoolSynchronizer[] | undefined;
  readonly machineCount: number;
  readonly updatedMachineCount: number;
  readonly readyMachineCount: number;
  readonly unavailableMachineCount: number;
  readonly degradedMachineCount: number;
  readonly conditions: readonly PoolCondition[];
}

interface Problem {
  readonly reason: string;
  readonly message: string;
}

/** The OS image stream of the pool. */
export interface PoolStreamInput {
  /** The stream that the OS image of a rendered config belongs to; null: none. */
  readonly streamOf: (renderedConfig: string) => string | null;
  readonly tracked: TrackedStream | null;
  /** Null: none are known yet. */
  readonly streams: Streams | null;
  /** Why the stream cannot be followed. */
  readonly problem: Problem | null;
}

export interface PoolStatusInput {
  readonly generation: number;
  readonly decision: RolloutDecision;
  readonly pool: PoolFacts;
  readonly nodes: readonly NodeFacts[];
  readonly renderProblem: Problem | null;
  /** spec.configuration. */
  readonly source: Configuration | undefined;
  /** The stored status.configuration. */
  readonly previous: Configuration | undefined;
  /** Invalid settings of the pool, from readPoolFacts. */
  readonly problems?: readonly RolloutProblem[];
  /** Undefined: the cluster does not use streams. */
  readonly osStream?: PoolStreamInput | undefined;
  /** Undefined: the cluster does not pin images. */
  readonly pins?: PoolPins | undefined;
}

export function computePoolStatus(given: PoolStatusInput): PoolStatus {
  const input = { ...given, renderProblem: joined(given.renderProblem, given.osStream?.problem ?? null) };
  const { nodes, decision } = input;
  const counts = countMachines(nodes, decision.target);
  const configuration = computeConfiguration(input);
  const stream = streamIn(configuration, input.osStream);
  return {
    observedGeneration: input.generation,
    ...(configuration !== undefined && { configuration }),
    osImageStream: stream === null ? undefined : { name: stream },
    poolSynchronizersStatus: (input.pins?.synchronizers.length ?? 0) === 0 ? undefined : input.pins?.synchronizers,
    ...counts,
    conditions: Object.values(buildConditions(input, isUpdated(counts) && decision.target !== null, stream)).filter(
      (each) => each !== null,
    ),
  };
}

/** If both exist, the condition reports both. */
function joined(render: Problem | null, stream: Problem | null): Problem | null {
  if (render === null || stream === null) return render ?? stream;
  return { reason: render.reason, message: `${render.message}\n${stream.message}` };
}

/** Only what every machine runs: a stream that some machines still move to is not the pool's yet. */
function streamIn(configuration: Configuration | undefined, osStream: PoolStreamInput | undefined): string | null {
  return configuration?.name === undefined ? null : (osStream?.streamOf(configuration.name) ?? null);
}

function streamDeprecated(
  { pool, osStream }: PoolStatusInput,
  runs: string | null,
): PoolCondition<'OSStreamDeprecated'> | null {
  if (osStream === undefined) return null;
  const { status, reason, message } = poolDeprecation(
    { pool: pool.name, tracked: osStream.tracked, runs },
    osStream.streams,
  );
  return condition('OSStreamDeprecated', status === 'True', reason, message);
}

function pinsDegraded({ pins }: PoolStatusInput): PoolCondition<'PinnedImageSetsDegraded'> | null {
  if (pins === undefined) return null;
  const { reason, message } = pins.degraded;
  return condition('PinnedImageSetsDegraded', message !== '', reason, message);
}

type Counts = Omit<
  PoolStatus,
  'observedGeneration' | 'configuration' | 'osImageStream' | 'poolSynchronizersStatus' | 'conditions'
>;

/** A cordoned machine counts as not ready, as everywhere in this status. */
function countMachines(nodes: readonly NodeFacts[], target: string | null): Counts {
  const updated = nodes.filter(
    ({ current, desired, state }) => target !== null && current === target && desired === target && state === 'Done',
  );
  return {
    machineCount: nodes.length,
    updatedMachineCount: updated.length,
    readyMachineCount: updated.filter(({ isReady, isCordoned }) => isReady && !isCordoned).length,
    unavailableMachineCount: nodes.filter(isUnavailable).length,
    degradedMachineCount: nodes.filter(isFailing).length,
  };
}

const isUpdated = ({
  machineCount,
  updatedMachineCount,
  readyMachineCount,
  unavailableMachineCount,
}: Counts): boolean =>
  updatedMachineCount === machineCount && readyMachineCount === machineCount && unavailableMachineCount === 0;

/** The config that every machine has, or had when the last rollout ended. A pool without machines follows its target. */
function computeConfiguration({
  decision: { target, state, phase },
  nodes,
  source,
  previous,
}: PoolStatusInput): Configuration | undefined {
  const isEnded = state !== null && state.target === target && state.endedAt !== null;
  const isReached = isEnded || (nodes.length === 0 && phase === 'updated');
  if (!isReached || target === null) return previous;
  if (source?.name === target) return source;
  return previous?.name === target ? previous : reference(target);
}

const reference = (name: string): Configuration => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfig',
  name,
});

function buildConditions(input: PoolStatusInput, updated: boolean, stream: string | null): Conditions {
  const { decision, nodes, renderProblem } = input;
  const failing = degradedMessage(nodes.filter(isFailing));
  return {
    Updated: updated
      ? condition('Updated', true, 'AllMachinesUpdated', updatedMessage(decision))
      : condition('Updated', false, 'NotAllMachinesUpdated', ''),
    Updating: updating(input, updated),
    NodeDegraded: condition('NodeDegraded', failing !== '', failing === '' ? 'AsExpected' : 'MachinesFailed', failing),
    RenderDegraded: condition(
      'RenderDegraded',
      renderProblem !== null,
      renderProblem?.reason ?? 'AsExpected',
      renderProblem?.message ?? '',
    ),
    Degraded: degradedBy(input, failing),
    OSStreamDeprecated: streamDeprecated(input, stream),
    PinnedImageSetsDegraded: pinsDegraded(input),
  };
}

/** The message joins all that apply; the reason is that of the first. */
function degradedBy({ renderProblem, decision, pins }: PoolStatusInput, failing: string): PoolCondition<'Degraded'> {
  const findings: Problem[] = [
    ...(renderProblem === null ? [] : [renderProblem]),
    ...(decision.phase === 'halted' ? [{ reason: reasons.halted, message: decision.summary }] : []),
    ...(failing === '' ? [] : [{ reason: 'MachinesFailed', message: failing }]),
    ...(pins === undefined || pins.full.message === '' ? [] : [pins.full]),
  ];
  return condition(
    'Degraded',
    findings.length > 0,
    findings[0]?.reason ?? 'AsExpected',
    findings
      .map(({ message }) => message)
      .filter((part) => part !== '')
      .join('; '),
  );
}

/** The message that users know; for a pool held at an old config also why, and how to continue. */
const updatedMessage = ({ target, state, summary }: RolloutDecision): string =>
  `All nodes are updated with MachineConfig ${target}${state === null || state.hold === null ? '' : `. ${summary}`}`;

const condition = <Type extends ConditionType>(
  type: Type,
  holds: boolean,
  reason: string,
  message: string,
): PoolCondition<Type> => ({
  type,
  status: holds ? 'True' : 'False',
  reason,
  message: message.slice(0, MAX_MESSAGE),
});

const MAX_MESSAGE = 4000;
const MAX_NODES = 5;
const MAX_REASON = 500;

function degradedMessage(degraded: readonly NodeFacts[]): string {
  const sorted = degraded.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const shown = sorted.slice(0, MAX_NODES).map(({ name, reason, state }) => {
    const report = reason === '' ? String(state) : reason.slice(0, MAX_REASON);
    return `Node ${name} is reporting: "${report}"`;
  });
  return [...shown, ...(degraded.length > MAX_NODES ? [`and ${degraded.length - MAX_NODES} more nodes`] : [])].join(
    ', ',
  );
}

const reasons = {
  updated: 'MachinesOutOfService',
  updating: 'RollingOut',
  paused: 'Paused',
  stopped: 'RolloutsStopped',
  halted: 'RolloutHalted',
  nothing: 'NotRendered',
} as const satisfies Readonly<Record<RolloutDecision['phase'], string>>;

/** As users know it: a paused pool is not updating, whatever its machines have; a pool with an unavailable machine is. */
function updating(input: PoolStatusInput, updated: boolean): PoolCondition<'Updating'> {
  const { phase } = input.decision;
  const notes = (input.problems ?? []).map(({ code, message }) => `${message} (${code})`);
  const message = [...(updated ? [] : whatHappens(input)), ...notes].join('. ');
  const holds = !updated && phase !== 'paused' && phase !== 'stopped' && phase !== 'nothing';
  return condition('Updating', holds, updated ? 'AsExpected' : reasons[phase], message);
}

function whatHappens({ decision: { phase, summary }, nodes }: PoolStatusInput): string[] {
  if (phase === 'updated')
    return [summary, `Unavailable: ${formatNames(nodes.filter(isUnavailable))}, cordoned by a user`];
  // The summary of an active rollout already names them.
  const drains = phase === 'updating' ? '' : blockedDrains(nodes);
  return drains === '' ? [summary] : [summary, drains];
}
