// Assigns machines their next config: one write each.
import {
  type MachineConfigPool,
  nodeAnnotations,
  nodes,
  rolloutHistoryAnnotation,
  rolloutRequestAnnotation,
  rolloutStateAnnotation,
  targetConfigAnnotation,
  targetReasonAnnotation,
} from '@slipway/api';
import { forEachLimit } from '@slipway/base/concurrency';
import {
  addToHistory,
  encodeHistory,
  encodeState,
  type RolloutDecision,
  type RolloutRecord,
  targetReason,
} from '@slipway/fleet';
import type { Context } from '@slipway/kube';
import type { Member } from '../fleet-index.ts';

/** A small batch, so that a stop or pause takes effect soon, even if a thousand machines may update concurrently. */
export const MAX_ASSIGNMENTS_PER_RUN = 100;
const WRITERS = 16;

type Assignment = RolloutDecision['give'][number];

/** All of them were chosen together: when one write fails, those in progress complete, and no more start. */
export async function assignTargets(
  give: readonly Assignment[],
  members: readonly Member[],
  context: Context,
): Promise<void> {
  const byName = new Map(members.map(({ node }) => [node.metadata.name, node]));
  await forEachLimit(give.slice(0, MAX_ASSIGNMENTS_PER_RUN), WRITERS, async ({ node: name, config, why }) => {
    const node = byName.get(name);
    if (node === undefined) return;
    const annotations = {
      [nodeAnnotations.desiredConfig]: config,
      [targetReasonAnnotation]: targetReason(context.now().getTime(), why),
    };
    await context.write.patch(nodes, node, { metadata: { annotations } });
    context.log.info({ node: name, config, why }, 'assigned a config to a node');
  });
}

// Which annotations of a pool a decision changes: all in one write, so that a held target always has its reason.

/** As in a merge patch: null removes an annotation. */
export type AnnotationPatch = Readonly<Record<string, string | null>>;

/** Null: nothing changes. */
export function buildDecisionPatch(
  pool: MachineConfigPool,
  history: readonly RolloutRecord[],
  { state, held, ended }: Pick<RolloutDecision, 'state' | 'held' | 'ended'>,
): AnnotationPatch | null {
  const { annotations = {} } = pool.metadata;
  const wanted: Record<string, string | null> = {
    [rolloutStateAnnotation]: state === null ? null : encodeState(state),
    [targetConfigAnnotation]: held,
  };
  if (ended !== null) wanted[rolloutHistoryAnnotation] = encodeHistory(addToHistory(ended, history));
  // A client that replaced the whole pool removed it.
  else if (history.length > 0 && annotations[rolloutHistoryAnnotation] === undefined) {
    wanted[rolloutHistoryAnnotation] = encodeHistory(history);
  }
  const changed = Object.entries(wanted).filter(([name, value]) => (annotations[name] ?? null) !== value);
  return changed.length === 0 ? null : Object.fromEntries(changed);
}

/** Removes the request in the same write as its answer. */
export const buildRequestPatch = (
  pool: MachineConfigPool,
  history: readonly RolloutRecord[],
  answered: Pick<RolloutDecision, 'state' | 'held' | 'ended'>,
): AnnotationPatch => ({ ...buildDecisionPatch(pool, history, answered), [rolloutRequestAnnotation]: null });
