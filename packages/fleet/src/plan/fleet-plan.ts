// What applying some manifests would lead to, as plain data. `-o json` gives exactly this; docs/plan.md explains it.
import type { MachineConfig, MachineConfiguration, Node } from '@slipway/api';
import type { ItemDiff } from '@slipway/ignition';
import type { PlatformImages } from '../os-streams/pool-os-images.ts';
import type { CodedProblem } from '../problems.ts';
import type { ReadInput } from '../render/prepare-render.ts';
import type { PlannedConfig } from '../update/plan-update.ts';
import type { Cause, Irreconcilable, NodeAction, UpdatePlan } from '../update/update-plan.ts';

export interface FleetPlan {
  readonly outcome: PlanOutcome;
  /** What was given, and whether it differs from what is there. */
  readonly objects: readonly PlannedObject[];
  /** By name. Those that nothing happens to are here too. */
  readonly pools: readonly PoolPlan[];
  /** What keeps the fleet from getting there. */
  readonly problems: readonly CodedProblem[];
  /** What deserves a look, a sentence each. */
  readonly warnings: readonly string[];
}

/** `refused`: something cannot be rendered, or a machine cannot become it. */
export type PlanOutcome = 'no change' | 'no disruption' | 'disruption' | 'refused';

export interface PlannedObject {
  readonly kind: string;
  readonly name: string;
  readonly change: 'new' | 'changed' | 'same' | 'removed';
}

export interface PoolPlan {
  readonly name: string;
  /** What machines are to have, before and after: names of rendered configs. Null: nothing. */
  readonly before: string | null;
  readonly after: string | null;
  /** What render makes of the MachineConfigs; another than `after` while the pool is held at an older one. */
  readonly newest: string | null;
  readonly isNew: boolean;
  /** Whether the manifests lead to anything in this pool that would not happen without them. */
  readonly isAffected: boolean;
  /** What `changes` are seen from: `before`, or for a new pool what its machines come from. Null: nothing to compare with. */
  readonly comparedWith: string | null;
  /** From there to `after`, each with the MachineConfigs it comes from. Secrets are hidden unless asked for. */
  readonly changes: readonly PlannedChange[];
  readonly rollout: RolloutPlan;
  /** One for each config that a machine of the pool comes from. */
  readonly updates: readonly PlannedUpdate[];
  /** Every machine that would be in the pool, by name. */
  readonly nodes: readonly NodePlan[];
}

export interface PlannedChange extends ItemDiff {
  /** The MachineConfigs that say it; `(platform)` for what no MachineConfig says. Empty where it is no longer said. */
  readonly from: readonly string[];
  /** Those that said it before. Empty where nobody did, or nobody knows. */
  readonly was: readonly string[];
}

export interface RolloutPlan {
  /** As the rollout controller would call it. */
  readonly phase: 'updated' | 'updating' | 'paused' | 'stopped' | 'halted' | 'nothing';
  /** Its words: what happens, or what is waited for and the way out. */
  readonly summary: string;
  /** How many machines may be out of service at once, and how many of these places are taken by machines that stay out. */
  readonly maxUnavailable: number;
  readonly takenBy: readonly string[];
  /** In their order; in each, machines in theirs. */
  readonly waves: readonly PlannedWave[];
  /** Going by past rollouts of the pool; null: there is none to go by. */
  readonly estimateSeconds: number | null;
}

export interface PlannedWave {
  readonly number: number;
  readonly of: number;
  readonly nodes: readonly string[];
  /** How many of them at once. */
  readonly atATime: number;
  /** How long the wave has to be well before the next one begins. */
  readonly soakSeconds: number;
}

export interface PlannedUpdate {
  readonly from: string;
  readonly to: string;
  /** Null: one of the configs is not to be had, so nobody knows. */
  readonly actions: readonly NodeAction[] | null;
  readonly needsDrain: boolean;
  readonly causes: readonly Cause[];
  readonly changes: UpdatePlan['changes'];
  readonly irreconcilable: readonly Irreconcilable[];
  readonly tolerated: readonly Irreconcilable[];
  /** Machines that come from there, by name. */
  readonly nodes: readonly string[];
}

export interface NodePlan {
  readonly name: string;
  /** The pool it leaves; null: it is in the pool already, or was in none. */
  readonly movesFrom: string | null;
  readonly current: string | null;
  readonly target: string | null;
  /** `skipped`: cannot have a turn as it is; `why` says for what reason. */
  readonly turn: 'none' | 'update' | 'skipped';
  readonly why: string;
  /** Its number among the waves of the pool; null: it is in none. */
  readonly wave: number | null;
  /** Whether something happens to it that would not without the manifests. */
  readonly isAffected: boolean;
  readonly drain: PlannedDrain | null;
}

export interface PlannedDrain {
  /** `namespace/name`, by name. Null: the pods could not be listed. */
  readonly evicted: readonly string[] | null;
  /** Budgets that would refuse some of these evictions now. */
  readonly blockedBy: readonly BlockingBudget[];
}

export interface BlockingBudget {
  /** `namespace/name` */
  readonly budget: string;
  /** Evictions it allows now. */
  readonly allowed: number;
  /** Pods of this machine that it counts. */
  readonly pods: readonly string[];
}

const exitCodes: Readonly<Record<PlanOutcome, number>> = {
  'no change': 0,
  refused: 1,
  'no disruption': 2,
  disruption: 3,
};

export const toExitCode = ({ outcome }: Pick<FleetPlan, 'outcome'>): number => exitCodes[outcome];

// A fleet as plain data: what is configured, and what machines there are.

/** What people and the platform say. */
export interface FleetState extends PlatformImages {
  /** Given ones and those of the operator; no rendered ones. */
  readonly machineConfigs: readonly MachineConfig[];
  /** The MachineConfiguration `cluster`. */
  readonly settings: MachineConfiguration | undefined;
  readonly controllerVersion: string;
}

/** What there is. */
export interface Machines {
  readonly nodes: readonly Node[];
  /** By name: what pools are at and machines have. One may be missing. */
  readonly rendered: ReadonlyMap<string, PlannedConfig['spec']>;
  /** Where the controllers run; null: not known. */
  readonly controllerNode: string | null;
}

export type ReadConfigs = ReadonlyMap<MachineConfig, ReadInput>;
