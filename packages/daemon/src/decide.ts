// What a node does about the config it is told to have.
import type { NodeMemory } from './node-memory.ts';
import type { Problem } from './problem.ts';

export interface NodeFacts {
  /** The config that the disk is at. */
  readonly current: string;
  /** What the Node object says; null: nothing. */
  readonly said: { readonly currentConfig: string | null; readonly desiredConfig: string | null };
  readonly memory: NodeMemory;
  /** Somebody with access to the machine has said to go on all the same. */
  readonly isForced: boolean;
}

export type Decision =
  /** It has the config it is to have, or is told of none. */
  | { readonly type: 'stay' }
  | { readonly type: 'update'; readonly target: string }
  /** The cluster knows less of this machine than the machine itself: nobody asked for the way back to `target`. */
  | { readonly type: 'hold'; readonly target: string }
  /** This one was tried, and the machine went back. */
  | { readonly type: 'give up'; readonly problem: Problem };

export function decide({ current, said, memory, isForced }: NodeFacts): Decision {
  const target = said.desiredConfig;
  if (target === null || target === current) return { type: 'stay' };
  if (isForced) return { type: 'update', target };
  if (memory.held === target || isForgotten(current, said.currentConfig, memory)) return { type: 'hold', target };
  if (memory.failed?.target === target) return { type: 'give up', problem: memory.failed.problem };
  return { type: 'update', target };
}

/**
 * The Node names another current config than the one this machine has and has told it of: the cluster was restored from an
 * older backup, or somebody wrote the annotation. A machine that has just changed has not told it yet, so that is no sign.
 */
function isForgotten(current: string, said: string | null, { reported = current }: NodeMemory): boolean {
  return said !== null && said !== current && said !== reported;
}
