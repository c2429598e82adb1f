// Tells machines what to have next: one write each.
import {
  type MachineConfigPool,
  type Node,
  nodeAnnotations,
  nodes,
  rolloutHistoryAnnotation,
  rolloutRequestAnnotation,
  rolloutStateAnnotation,
  targetConfigAnnotation,
  targetReasonAnnotation,
} from '@slipway/api';
import {
  addToHistory,
  encodeHistory,
  encodeState,
  type RolloutDecision,
  type RolloutRecord,
  targetReason,
} from '@slipway/fleet';
import type { Context, Stored } from '@slipway/kube';
import type { Member } from '../fleet-index.ts';
import type { Freshness } from '../freshness.ts';

/** So that a stop or pause is seen soon, also where a thousand machines may change at once. */
export const GIVE_AT_ONCE = 100;
const WRITERS = 16;
const fieldManager = 'slipway-rollout';

type Given = RolloutDecision['give'][number];

/** All of them were chosen together, so those in hand when one fails still land; no more are begun. */
export async function giveTargets(
  give: readonly Given[],
  members: readonly Member[],
  fresh: Freshness,
  context: Context,
): Promise<void> {
  const byName = new Map(members.map(({ node }) => [node.metadata.name, node]));
  const queue = give.slice(0, GIVE_AT_ONCE);
  async function work(): Promise<void> {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const node = byName.get(next.node);
      if (node === undefined) continue;
      try {
        fresh.wrote(nodes.kind, await giveOne(next, node, context));
      } catch (error) {
        queue.length = 0;
        throw error;
      }
      context.log.info({ node: next.node, config: next.config, why: next.why }, 'a node has a new target');
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: Math.min(WRITERS, queue.length) }, work));
  const problem = ended.find((result) => result.status === 'rejected');
  if (problem !== undefined) throw problem.reason;
}

function giveOne({ config, why }: Given, { metadata }: Stored<Node>, { client, now }: Context): Promise<Stored<Node>> {
  const annotations = {
    [nodeAnnotations.desiredConfig]: config,
    [targetReasonAnnotation]: targetReason(now().getTime(), why),
  };
  const { uid, resourceVersion } = metadata;
  const patch = { type: 'merge', body: { metadata: { annotations } } } as const;
  return client.patch(nodes, metadata, patch, { uid, resourceVersion }, { fieldManager });
}

// What of a pool's annotations a decision changes: all in one write, so that a held target never stands without its reason.

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
