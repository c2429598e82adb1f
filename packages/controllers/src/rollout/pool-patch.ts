// What of a pool's annotations a decision changes: all in one write, so that a held target never stands without its reason.
import {
  rolloutHistoryAnnotation,
  rolloutRequestAnnotation,
  rolloutStateAnnotation,
  targetConfigAnnotation,
} from '@slipway/api';
import type { MachineConfigPool } from '@slipway/api';
import { addToHistory, encodeHistory, encodeState, type RolloutDecision, type RolloutRecord } from '@slipway/fleet';

/** As in a merge patch: null takes an annotation away. */
export type AnnotationPatch = Readonly<Record<string, string | null>>;

/** Null: nothing changes. */
export function decisionPatch(
  pool: MachineConfigPool,
  history: readonly RolloutRecord[],
  { state, held, ended }: Pick<RolloutDecision, 'state' | 'held' | 'ended'>,
): AnnotationPatch | null {
  const { annotations = {} } = pool.metadata;
  const wanted: Record<string, string | null> = {
    [rolloutStateAnnotation]: state === null ? null : encodeState(state),
    [targetConfigAnnotation]: held,
  };
  if (ended !== null) {
    wanted[rolloutHistoryAnnotation] = encodeHistory(addToHistory(ended, history));
  }
  const changed = Object.entries(wanted).filter(([name, value]) => (annotations[name] ?? null) !== value);
  return changed.length === 0 ? null : Object.fromEntries(changed);
}

/** The request goes with its answer. */
export const requestPatch = (
  pool: MachineConfigPool,
  history: readonly RolloutRecord[],
  answered: Pick<RolloutDecision, 'state' | 'held' | 'ended'>,
): AnnotationPatch => ({ ...decisionPatch(pool, history, answered), [rolloutRequestAnnotation]: null });
