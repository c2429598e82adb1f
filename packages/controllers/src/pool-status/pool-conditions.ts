import { renderProblemsAnnotation } from '@slipway/api';
import type { MachineConfigPool } from '@slipway/api';
import { decodeProblems } from '@slipway/fleet';
import { type Condition, setCondition } from '@slipway/kube';

type PoolStatus = NonNullable<MachineConfigPool['status']>;

/** The status of a pool as what is known says it shall be; the same object where it says so already. */
export function derivePoolStatus(pool: MachineConfigPool, now: Date): PoolStatus {
  const before = pool.status ?? {};
  const old = (before.conditions ?? []).filter(isCondition);
  const render = renderCondition(pool);
  const withRender = setCondition(old, render, now);
  const conditions = setCondition(withRender, degradedBy([render]), now);
  const observedGeneration = pool.metadata.generation ?? 0;
  if (conditions === old && before.observedGeneration === observedGeneration) return before;
  return { ...before, observedGeneration, conditions: [...conditions] };
}

function renderCondition({ metadata }: MachineConfigPool): Omit<Condition, 'lastTransitionTime'> {
  const annotation = metadata.annotations?.[renderProblemsAnnotation];
  if (annotation === undefined) return { type: 'RenderDegraded', status: 'False', reason: 'AsExpected', message: '' };
  const { problems, more } = decodeProblems(annotation);
  const message = problems.map(({ code, message }) => (code === '' ? message : `${message} [${code}]`)).join('\n');
  const rest = more > 0 ? `\n… and ${more} more` : '';
  return { type: 'RenderDegraded', status: 'True', reason: 'RenderFailed', message: `${message}${rest}` };
}

/** Degraded sums up the conditions that each say what is wrong with one part. */
function degradedBy(parts: readonly Omit<Condition, 'lastTransitionTime'>[]): Omit<Condition, 'lastTransitionTime'> {
  const bad = parts.filter(({ status }) => status === 'True');
  if (bad.length === 0) return { type: 'Degraded', status: 'False', reason: 'AsExpected', message: '' };
  return {
    type: 'Degraded',
    status: 'True',
    reason: bad[0]?.reason ?? '',
    message: bad.map(({ type, message }) => `${type}: ${message}`).join('\n'),
  };
}

type Loose = NonNullable<PoolStatus['conditions']>[number];

/** The schema of the kind leaves every field of a condition out if it likes; one without a type says nothing. */
const isCondition = (condition: Loose): condition is Loose & Condition =>
  condition.type !== undefined && condition.status !== undefined && typeof condition.lastTransitionTime === 'string';
