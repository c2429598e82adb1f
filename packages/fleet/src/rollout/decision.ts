// What a rollout comes to, for the controller to carry out, and for commands and pages to show.
import type { RolloutRecord, RolloutState } from './facts.ts';

export type NodePhase =
  /** Has the target and works. */
  | 'updated'
  /** Was given the target and is on its way. */
  | 'updating'
  /** Was given the target and could not. */
  | 'failed'
  /** Is given it now. */
  | 'next'
  /** Its turn comes. */
  | 'waiting'
  /** Cannot have a turn as it is: not ready, cordoned by somebody, degraded before, being deleted. */
  | 'skipped';

export interface NodeVerdict {
  readonly phase: NodePhase;
  /** One sentence for people: why this node now, or why not. */
  readonly why: string;
  /** Counts against maxUnavailable. */
  readonly isUnavailable: boolean;
}

export interface RolloutDecision {
  /** What the machines are to have; null: nothing was rendered yet. */
  readonly target: string | null;
  /** How many may be out of service at once. */
  readonly maxUnavailable: number;
  /** In order; each one write. */
  readonly give: readonly { readonly node: string; readonly config: string; readonly why: string }[];
  /** Every node of the pool. */
  readonly nodes: ReadonlyMap<string, NodeVerdict>;
  /** The wave that is under way: its number from 1, of how many, and how many machines may have the target in it. */
  readonly wave: { readonly number: number; readonly of: number; readonly size: number } | null;
  /** As it must be stored before anything is given; the same object where nothing changes. */
  readonly state: RolloutState | null;
  /** The annotation target-config as it must be: written together with `state`. */
  readonly held: string | null;
  /** A rollout that has just ended. */
  readonly ended: RolloutRecord | null;
  /** When time alone changes the decision; null: never. */
  readonly lookAgainAt: number | null;
  /** One sentence for people: what happens, or what is waited for and the way out. */
  readonly summary: string;
  readonly phase: 'updated' | 'updating' | 'paused' | 'stopped' | 'halted' | 'nothing';
}
