// A MachineConfigPool, as a rollout sees it: its annotations read, with what was wrong about them.
import type { MachineConfigPool } from '@slipway/api';
import { rolloutHistoryAnnotation, rolloutStateAnnotation, targetConfigAnnotation } from '@slipway/api/names';
import type { PoolFacts, RolloutRecord } from './facts.ts';
import { maxUnavailableProblem } from './max-unavailable.ts';
import { decodeHistory, decodeState } from './memory.ts';
import { parseRolloutPolicy } from './policy.ts';
import type { RolloutProblem } from './problem.ts';

/** Whether the machines of a pool are part of the control plane. */
export const isControlPlanePool = (pool: string): boolean => pool === 'master' || pool === 'arbiter';

export interface ReadPool {
  readonly pool: PoolFacts;
  /** Newest first. */
  readonly history: readonly RolloutRecord[];
  readonly problems: readonly RolloutProblem[];
}

export function poolFactsOf({ metadata, spec, status }: MachineConfigPool): ReadPool {
  const { name, annotations = {} } = metadata;
  const { policy, problems: policyProblems } = parseRolloutPolicy(annotations);
  const state = read(annotations[rolloutStateAnnotation], decodeState);
  const history = read(annotations[rolloutHistoryAnnotation], decodeHistory);
  const problems: (RolloutProblem | null)[] = [
    ...policyProblems,
    maxUnavailableProblem(name, spec.maxUnavailable),
    state.isDamaged ? damaged(name, rolloutStateAnnotation, 'The rollout begins anew, with its first wave') : null,
    history.isDamaged ? damaged(name, rolloutHistoryAnnotation, 'The history begins anew') : null,
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
  message: `MachineConfigPool ${pool}: annotation ${annotation}: expected the JSON that the rollout controller wrote, found something else. ${meaning}; leave the annotation to the controller`,
});
