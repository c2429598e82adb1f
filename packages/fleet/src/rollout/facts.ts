// What a rollout is decided on: a pool, its nodes and what was remembered, at one moment, as plain data.
import type { rolloutErrors } from '../errors.ts';
import type { RolloutPolicy } from './policy.ts';

/** What a node's daemon says of it; null: it has said nothing yet. */
export type DaemonState = 'Working' | 'Done' | 'Degraded' | 'Rebooting' | 'Unreconcilable' | null;

export interface NodeFacts {
  readonly name: string;
  /** Milliseconds, as all times here. */
  readonly createdAt: number;
  /** '' where it has none. */
  readonly zone: string;
  /** The rendered configs that the Node names; null: none yet. */
  readonly current: string | null;
  readonly desired: string | null;
  readonly state: DaemonState;
  /** The daemon's words; ''. */
  readonly reason: string;
  /** The kubelet reports, and has no trouble with its network or disk. */
  readonly isReady: boolean;
  /** For people: what is not ready; '' where it is. */
  readonly notReady: string;
  /** Since when it is ready, or is not. */
  readonly readyChangedAt: number;
  readonly isCordoned: boolean;
  /** We cordoned it, for an update. */
  readonly isCordonedByUs: boolean;
  /** What its drain waits for; '' for nothing. */
  readonly drainBlocked: string;
  /** As the kubelet tells it, such as `Red Hat Enterprise Linux CoreOS 9.6.20260101-0`; ''. */
  readonly osImage: string;
  /** When it was given its desired config; null: not known. */
  readonly givenAt: number | null;
  /** It had failed at another config when it was given this one: what its daemon says may still be about that. */
  readonly wasFailing: boolean;
  readonly isBeingDeleted: boolean;
}

export interface PoolFacts {
  readonly name: string;
  /** Masters and arbiters: one of all of them at a time, whatever maxUnavailable says. */
  readonly isControlPlane: boolean;
  /** What render made last; null: nothing yet. */
  readonly newest: string | null;
  /** The annotation target-config: goes before the newest. */
  readonly held: string | null;
  readonly isPaused: boolean;
  /** As users write it: a number, a percentage, or nothing. */
  readonly maxUnavailable: number | string | undefined;
  readonly policy: RolloutPolicy;
  /** The config that every machine of the pool last had: status.configuration. */
  readonly proven: string | null;
  readonly state: RolloutState | null;
}

export interface RolloutRequest {
  readonly now: number;
  readonly pool: PoolFacts;
  readonly nodes: readonly NodeFacts[];
  /** Why the fleet-wide switch is on; null: it is off. */
  readonly stopped: string | null;
  /** Control-plane nodes of other pools that are out of service or on their way. */
  readonly otherControlPlaneOut: readonly string[];
  /** The machines of other pools: one that failed and was then moved to another pool has failed all the same. */
  readonly elsewhere: readonly NodeFacts[];
  /** Where the controller that asks runs; null: not known. */
  readonly ownNode: string | null;
}

/** What is remembered of the rollout of a pool to one target. In the pool's annotation, as JSON. */
export interface RolloutState {
  readonly target: string;
  /** The last good config, to which a cancel or an automatic return goes; null: there was none. */
  readonly from: string | null;
  readonly startedAt: string;
  /** When every machine had it; null: it is under way. */
  readonly endedAt: string | null;
  /** Machines that were to change, when it began. */
  readonly nodes: number;
  /** The major version of the OS of the machines that ran `from` when it began; null: not known. */
  readonly fromOsMajor: number | null;
  /** The wave that is under way, from 1. */
  readonly wave: number;
  /** Since when the wave is full and every machine with the target is well; null: not so, or the policy asks for no soak. */
  readonly healthySince: string | null;
  /** Machines that were given the target before this moment and failed do not halt it: somebody said `resume`. */
  readonly resumedAt: string | null;
  /** A machine failed: no other is given the target until somebody says `resume`, or that machine is well. */
  readonly halted: { readonly at: string; readonly node: string; readonly reason: string } | null;
  /** Why the target is a held one; null: it is the newest. */
  readonly hold: Hold | null;
  /** What became of the last request of a person. */
  readonly answer: {
    readonly request: string;
    readonly at: string;
    readonly ok: boolean;
    readonly text: string;
  } | null;
}

export interface Hold {
  /** `return` and `cancel` go back to what most machines have: at once, without waves. A `rollback` is a rollout like others. */
  readonly kind: 'return' | 'cancel' | 'rollback';
  /** What render had made when it began: another one may end it. */
  readonly instead: string | null;
  readonly at: string;
  readonly why: string;
}

/** One ended rollout, newest first in the pool's history annotation. */
export interface RolloutRecord {
  readonly config: string;
  /** The highest major version of the OS of the machines when it ended, where it is known. */
  readonly osMajor?: number;
  readonly from: string | null;
  readonly startedAt: string;
  readonly endedAt: string;
  /** `superseded`: another target came before every machine had this one. All others: every machine had it. */
  readonly outcome: 'completed' | 'superseded' | 'cancelled' | 'returned' | 'rolled back';
  readonly nodes: number;
  /** How many went at a time. */
  readonly capacity: number;
  readonly why: string;
}

/** Something of a pool that cannot be used as it is. The message names it and the way out. */
export interface RolloutProblem {
  readonly code: keyof typeof rolloutErrors;
  readonly message: string;
}

export interface Assignment {
  readonly node: string;
  readonly config: string;
  readonly why: string;
}

// What a rollout comes to, for the controller to carry out, and for commands and pages to show.

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
