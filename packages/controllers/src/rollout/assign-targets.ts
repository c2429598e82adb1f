// Tells machines what to have next: one write each.
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

/** So that a stop or pause is seen soon, also where a thousand machines may change at once. */
export const MAX_ASSIGNMENTS_PER_RUN = 100;
const WRITERS = 16;

type Assignment = RolloutDecision['give'][number];

/** All of them were chosen together, so those in hand when one fails still land; no more are begun. */
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
    context.log.info({ node: name, config, why }, 'a node has a new target');
  });
}

// What of a pool's annotations a decision changes: all in one write, so that a held target never stands without its reason.

/** As in a merge patch: null takes an annotation away. */
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
  if (ended !== null) {
    wanted[rolloutHistoryAnnotation] = encodeHistory(addToHistory(ended, history));
  }
  const changed = Object.entries(wanted).filter(([name, value]) => (annotations[name] ?? null) !== value);
  return changed.length === 0 ? null : Object.fromEntries(changed);
}

/** The request goes with its answer. */
export const buildRequestPatch = (
  pool: MachineConfigPool,
  history: readonly RolloutRecord[],
  answered: Pick<RolloutDecision, 'state' | 'held' | 'ended'>,
): AnnotationPatch => ({ ...buildDecisionPatch(pool, history, answered), [rolloutRequestAnnotation]: null });
