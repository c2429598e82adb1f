// Writes the status of a pool on changes, and at most once a second while machines finish one after another.
import { type MachineConfigPool, machineConfigPools, renderProblemsAnnotation } from '@slipway/api';
import { isEqual } from '@slipway/base/equal';
import { count } from '@slipway/base/text';
import {
  decodeProblems,
  fieldsWhileInUse,
  goesWhenUnused,
  formatProblems,
  type PoolStatus,
  type PoolStatusInput,
  type RolloutDecision,
  type RolloutState,
} from '@slipway/fleet';
import { type Condition, type Context, type EventInput, setCondition, type Stored } from '@slipway/kube';

type StoredStatus = NonNullable<MachineConfigPool['status']>;

const MIN_STATUS_INTERVAL_MS = 1000;

/** Writes only a change. */
export async function writeStatus(
  pool: Stored<MachineConfigPool>,
  status: PoolStatus,
  { write, now }: Context,
): Promise<void> {
  const next = mergeStatus(pool.status, status, now());
  if (next === null) return;
  // A merge patch replaces lists as a whole, as the API specifies for conditions.
  await write.patchThrottled(
    machineConfigPools,
    pool,
    { status: buildStatusPatch(pool.status, next) },
    { subresource: 'status', minIntervalMs: changesCondition(pool.status, next) ? 0 : MIN_STATUS_INTERVAL_MS },
  );
}

/** The desired values of our fields; null if they are current. Conditions of other controllers stay. */
export function mergeStatus(before: StoredStatus | undefined, wanted: PoolStatus, now: Date): StoredStatus | null {
  const reported = new Set<string>(wanted.conditions.map(({ type }) => type));
  const old = (before?.conditions ?? [])
    .filter(isCondition)
    .filter(({ type }) => reported.has(type) || !goesWhenUnused(type));
  const conditions = wanted.conditions.reduce<readonly Condition[]>((list, each) => setCondition(list, each, now), old);
  const { osImageStream, poolSynchronizersStatus, ...rest } = wanted;
  const next = {
    ...rest,
    ...(osImageStream !== undefined && { osImageStream }),
    ...(poolSynchronizersStatus !== undefined && { poolSynchronizersStatus: [...poolSynchronizersStatus] }),
    conditions: [...conditions],
  };
  const isSame = Object.entries({ osImageStream, poolSynchronizersStatus, ...next }).every(([field, value]) =>
    isEqual(before?.[field as keyof StoredStatus], value),
  );
  return isSame ? null : next;
}

/** A merge patch would keep fields that only the old configuration has, such as the sources of a held one. */
export function buildStatusPatch(before: StoredStatus | undefined, next: StoredStatus): object {
  const passed = fieldsWhileInUse.filter((field) => before?.[field] !== undefined && next[field] === undefined);
  const patch = { ...next, ...Object.fromEntries(passed.map((field) => [field, null])) };
  if (next.configuration === undefined) return patch;
  const gone = Object.keys(before?.configuration ?? {}).map((field) => [field, null]);
  return { ...patch, configuration: { ...Object.fromEntries(gone), ...next.configuration } };
}

/** A changed condition is written immediately. */
function changesCondition(before: StoredStatus | undefined, { conditions = [] }: StoredStatus): boolean {
  const old = new Map((before?.conditions ?? []).map(({ type, status }) => [type, status]));
  return conditions.some(({ type, status }) => old.get(type) !== status);
}

/** The problem that the render controller stored in the pool's annotation. */
export function readRenderProblem({ metadata }: MachineConfigPool): PoolStatusInput['renderProblem'] {
  const annotation = metadata.annotations?.[renderProblemsAnnotation];
  if (annotation === undefined) return null;
  const { problems, more } = decodeProblems(annotation);
  const message = formatProblems(problems);
  return { reason: 'RenderFailed', message: more > 0 ? `${message}\n… and ${more} more` : message };
}

type LooseCondition = NonNullable<StoredStatus['conditions']>[number];

/** In the schema every field of a condition is optional; one without a type has no meaning. */
const isCondition = (condition: LooseCondition): condition is LooseCondition & Condition =>
  condition.type !== undefined && condition.status !== undefined && typeof condition.lastTransitionTime === 'string';

// Events and log lines of a rollout: when it starts or ends, not while it progresses.

export function recordDecisionEvents(
  pool: Stored<MachineConfigPool>,
  before: RolloutState | null,
  decision: ReportedDecision,
  { events, log }: Pick<Context, 'events' | 'log'>,
): void {
  for (const event of buildRolloutEvents(before, decision)) {
    events.record(machineConfigPools, pool, event);
    log[event.type === 'Warning' ? 'warn' : 'info']({ reason: event.reason }, event.message);
  }
}

type ReportedDecision = Pick<RolloutDecision, 'state' | 'ended' | 'summary'>;

export function buildRolloutEvents(before: RolloutState | null, decision: ReportedDecision): EventInput[] {
  return [
    buildEndEvent(decision),
    buildStartEvent(before, decision),
    buildHaltEvent(before, decision),
    buildHoldEvent(before, decision),
  ].filter((each) => each !== null);
}

function buildEndEvent({ ended }: ReportedDecision): EventInput | null {
  if (ended === null) return null;
  const message = `${ended.config}: rollout ${ended.outcome} (${count(ended.nodes, 'machine')}). ${ended.why}`;
  return { type: 'Normal', reason: ended.outcome === 'completed' ? 'Completed' : 'RolloutEnded', message };
}

function buildStartEvent(before: RolloutState | null, { state, summary }: ReportedDecision): EventInput | null {
  if (state === null || state.target === before?.target || state.nodes === 0) return null;
  return { type: 'Normal', reason: 'Updating', message: summary };
}

function buildHaltEvent(before: RolloutState | null, { state, summary }: ReportedDecision): EventInput | null {
  const halted = state?.halted ?? null;
  if (halted === null || halted.at === before?.halted?.at) return null;
  const message = `${state?.target}: node ${halted.node} failed: ${halted.reason}. ${summary}`;
  return { type: 'Warning', reason: 'RolloutHalted', message };
}

function buildHoldEvent(before: RolloutState | null, { state }: ReportedDecision): EventInput | null {
  const hold = state?.hold ?? null;
  if (hold === null || hold.at === before?.hold?.at) return null;
  return { type: 'Warning', reason: 'RolloutHeld', message: `The pool is held at ${state?.target}: ${hold.why}` };
}
