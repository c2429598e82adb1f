// The input and output of a rollout decision as plain data: a pool, its nodes and the stored state at one moment.
import type { rolloutErrors } from '../errors.ts';
import type { RolloutPolicy } from './policy.ts';

/** The state that the daemon reports; null: none yet. */
export type DaemonState = 'Working' | 'Done' | 'Degraded' | 'Rebooting' | 'Unreconcilable' | null;

export interface NodeFacts {
  readonly name: string;
  /** In milliseconds, like all times here. */
  readonly createdAt: number;
  /** '' if it has none. */
  readonly zone: string;
  /** The rendered configs in the Node's annotations; null: none yet. */
  readonly current: string | null;
  readonly desired: string | null;
  readonly state: DaemonState;
  /** The daemon's message; '' if there is none. */
  readonly reason: string;
  /** The desired config that `state` and `reason` are about; null: the daemon does not report it. */
  readonly reportedConfig: string | null;
  /** It is degraded because something on the machine changed what its current config wrote. */
  readonly hasDrifted: boolean;
  /** Ready, without network or disk problems. */
  readonly isReady: boolean;
  /** Human-readable: what is not ready; '' if it is ready. */
  readonly notReady: string;
  /** When isReady last changed. */
  readonly readyChangedAt: number;
  readonly isCordoned: boolean;
  /** Slipway cordoned it for an update. */
  readonly isCordonedByUs: boolean;
  /** It has requested a drain that is not complete. */
  readonly awaitsDrain: boolean;
  /** What its drain waits for; '' for nothing. */
  readonly drainBlocked: string;
  /** As the kubelet reports it, such as `Red Hat Enterprise Linux CoreOS 9.6.20260101-0`; ''. */
  readonly osImage: string;
  /** When it was assigned its desired config; null: not known. */
  readonly givenAt: number | null;
  /** It had failed at another config when it was assigned this one: the daemon's report may still be about that one. */
  readonly wasFailing: boolean;
  /** It reported this config as its own before it was assigned: it does not prove that a machine can be updated to it. */
  readonly hadItBefore: boolean;
  readonly isBeingDeleted: boolean;
}

export interface PoolFacts {
  readonly name: string;
  /** Masters and arbiters: one at a time across all these pools, whatever maxUnavailable is. */
  readonly isControlPlane: boolean;
  /** The config that was rendered last; null: none yet. */
  readonly newest: string | null;
  /** The annotation target-config, which overrides the newest. */
  readonly held: string | null;
  readonly isPaused: boolean;
  /** As users write it: a number, a percentage, or nothing. */
  readonly maxUnavailable: number | string | undefined;
  readonly policy: RolloutPolicy;
  /** The last config that every machine of the pool had: status.configuration. */
  readonly proven: string | null;
  readonly state: RolloutState | null;
}

export interface RolloutRequest {
  readonly now: number;
  readonly pool: PoolFacts;
  readonly nodes: readonly NodeFacts[];
  /** Why the fleet-wide switch is on; null: it is off. */
  readonly stopped: string | null;
  /** Unavailable control-plane nodes of other pools. */
  readonly otherControlPlaneOut: readonly string[];
  /** The nodes of other pools: a failed node that was moved to another pool still counts as failed. */
  readonly elsewhere: readonly NodeFacts[];
  /** The node that the controller runs on; null: not known. */
  readonly ownNode: string | null;
}

/** The stored state of a pool's rollout to one target: JSON in an annotation of the pool. */
export interface RolloutState {
  readonly target: string;
  /** The last good config, the target of a cancel or an automatic rollback; null: there was none. */
  readonly from: string | null;
  readonly startedAt: string;
  /** When every machine had it; null: the rollout is in progress. */
  readonly endedAt: string | null;
  /** How many machines had to change when it started. */
  readonly nodes: number;
  /** The OS major version of the machines that ran `from` when it started; null: not known. */
  readonly fromOsMajor: number | null;
  /** The current wave, from 1. */
  readonly wave: number;
  /** Since when the wave is complete and every machine with the target healthy; null: not yet, or the policy has no soak. */
  readonly healthySince: string | null;
  /** Set by `resume`: machines that were assigned the target before this time and failed do not halt the rollout. */
  readonly resumedAt: string | null;
  /** A machine failed: no other is assigned the target until a user runs `resume` or that machine is healthy. */
  readonly halted: { readonly at: string; readonly node: string; readonly reason: string } | null;
  /** Why the target is held; null: it is the newest. */
  readonly hold: Hold | null;
  /** The answer to the last user request. */
  readonly answer: {
    readonly request: string;
    readonly at: string;
    readonly ok: boolean;
    readonly text: string;
  } | null;
}

export interface Hold {
  /** `return` and `cancel` return to what most machines have, without waves. A `rollback` is an ordinary rollout. */
  readonly kind: 'return' | 'cancel' | 'rollback';
  /** The newest config when the hold started: a newer one may end the hold. */
  readonly instead: string | null;
  readonly at: string;
  readonly why: string;
}

/** One ended rollout, newest first in the pool's history annotation. */
export interface RolloutRecord {
  readonly config: string;
  /** The highest OS major version of the machines when it ended, if known. */
  readonly osMajor?: number;
  readonly from: string | null;
  readonly startedAt: string;
  readonly endedAt: string;
  /** `superseded`: the target changed before every machine had this one. All others: every machine had it. */
  readonly outcome: 'completed' | 'superseded' | 'cancelled' | 'returned' | 'rolled back';
  readonly nodes: number;
  /** How many were updated at a time. */
  readonly capacity: number;
  readonly why: string;
}

/** A setting of a pool that cannot be used. The message names it and what to do. */
export interface RolloutProblem {
  readonly code: keyof typeof rolloutErrors;
  readonly message: string;
}

export interface Assignment {
  readonly node: string;
  readonly config: string;
  readonly why: string;
}

// The decision, for the controller to execute and for commands and pages to show.

export type NodePhase =
  /** Has the target and is healthy. */
  | 'updated'
  /** Was assigned the target and is updating. */
  | 'updating'
  /** Was assigned the target and failed to apply it. */
  | 'failed'
  /** Was assigned the target and drifted from its config, before the update or after it. */
  | 'drifted'
  /** Is being assigned the target. */
  | 'next'
  /** Waits for a slot. */
  | 'waiting'
  /** Cannot be updated now: not ready, cordoned by a user, already degraded, or being deleted. */
  | 'skipped';

export interface NodeVerdict {
  readonly phase: NodePhase;
  /** A human-readable sentence: why this node is updated now, or why not. */
  readonly why: string;
  /** Counts against maxUnavailable. */
  readonly isUnavailable: boolean;
}

export interface RolloutDecision {
  /** The desired config of the machines; null: nothing was rendered yet. */
  readonly target: string | null;
  /** How many may be unavailable at the same time. */
  readonly maxUnavailable: number;
  /** Assignments in order, one write each. */
  readonly give: readonly { readonly node: string; readonly config: string; readonly why: string }[];
  /** Every node of the pool. */
  readonly nodes: ReadonlyMap<string, NodeVerdict>;
  /** The current wave: its number from 1, the number of waves, and how many machines may have the target in it. */
  readonly wave: { readonly number: number; readonly of: number; readonly size: number } | null;
  /** Must be stored before any assignment; the same object where nothing changes. */
  readonly state: RolloutState | null;
  /** The desired value of the annotation target-config, written together with `state`. */
  readonly held: string | null;
  /** A rollout that has just ended. */
  readonly ended: RolloutRecord | null;
  /** When to decide again even if nothing changes in the cluster; null: never. */
  readonly lookAgainAt: number | null;
  /** A human-readable sentence: what happens, or what the rollout waits for and what to do. */
  readonly summary: string;
  readonly phase: 'updated' | 'updating' | 'paused' | 'stopped' | 'halted' | 'nothing';
}
