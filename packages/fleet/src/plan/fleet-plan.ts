// The effect of applying manifests, as plain data. `-o json` prints exactly this; docs/plan.md explains it.
import type { MachineConfig, MachineConfiguration, Node } from '@slipway/api';
import type { ItemDiff } from '@slipway/ignition';
import type { PlatformImages } from '../os-streams/pool-os-images.ts';
import type { CodedProblem } from '../problems.ts';
import type { ReadInput } from '../render/prepare-render.ts';
import type { PlannedConfig } from '../update/plan-update.ts';
import type { Cause, Irreconcilable, NodeAction, UpdatePlan } from '../update/update-plan.ts';

export interface FleetPlan {
  readonly outcome: PlanOutcome;
  /** The given objects, and whether they differ from the existing ones. */
  readonly objects: readonly PlannedObject[];
  /** By name, including pools that do not change. */
  readonly pools: readonly PoolPlan[];
  /** What makes the change fail. */
  readonly problems: readonly CodedProblem[];
  /** Human-readable warnings. */
  readonly warnings: readonly string[];
}

/** `refused`: something cannot be rendered, or a machine cannot apply it. */
export type PlanOutcome = 'no change' | 'no disruption' | 'disruption' | 'refused';

export interface PlannedObject {
  readonly kind: string;
  readonly name: string;
  readonly change: 'new' | 'changed' | 'same' | 'removed';
}

export interface PoolPlan {
  readonly name: string;
  /** The target before and after: names of rendered configs. Null: none. */
  readonly before: string | null;
  readonly after: string | null;
  /** The newest rendered config; differs from `after` while the pool is held at an older one. */
  readonly newest: string | null;
  readonly isNew: boolean;
  /** Whether the manifests change anything in this pool. */
  readonly isAffected: boolean;
  /** The base of `changes`: `before`, or for a new pool the config of its machines. Null: nothing to compare with. */
  readonly comparedWith: string | null;
  /** From there to `after`, each with the MachineConfigs that cause it. Secrets are hidden by default. */
  readonly changes: readonly PlannedChange[];
  readonly rollout: RolloutPlan;
  /** One for each current config of a machine. */
  readonly updates: readonly PlannedUpdate[];
  /** Every machine that would be in the pool, by name. */
  readonly nodes: readonly NodePlan[];
}

export interface PlannedChange extends ItemDiff {
  /** The MachineConfigs that set it; `(platform)` if none does. Empty if it is no longer set. */
  readonly from: readonly string[];
  /** Those that set it before. Empty if none did, or it is not known. */
  readonly was: readonly string[];
}

export interface RolloutPlan {
  /** The phase of the rollout controller. */
  readonly phase: 'updated' | 'updating' | 'paused' | 'stopped' | 'halted' | 'nothing';
  /** Its message: what happens, or what the rollout waits for and what to do. */
  readonly summary: string;
  /** How many machines may be unavailable at the same time, and which of these slots unavailable machines take for good. */
  readonly maxUnavailable: number;
  readonly takenBy: readonly string[];
  /** In order; the machines of each wave too. */
  readonly waves: readonly PlannedWave[];
  /** Estimated from past rollouts of the pool; null: there is none. */
  readonly estimateSeconds: number | null;
}

export interface PlannedWave {
  readonly number: number;
  readonly of: number;
  readonly nodes: readonly string[];
  /** How many of them at a time. */
  readonly atATime: number;
  /** How long the wave must be healthy before the next one starts. */
  readonly soakSeconds: number;
}

export interface PlannedUpdate {
  readonly from: string;
  readonly to: string;
  /** Null: not known, because one of the configs is missing. */
  readonly actions: readonly NodeAction[] | null;
  readonly needsDrain: boolean;
  readonly causes: readonly Cause[];
  readonly changes: UpdatePlan['changes'];
  readonly irreconcilable: readonly Irreconcilable[];
  readonly tolerated: readonly Irreconcilable[];
  /** What the OS of some of these machines cannot have. */
  readonly unsupported: readonly UnsupportedSetting[];
  /** Machines at `from`, by name. */
  readonly nodes: readonly string[];
}

export interface UnsupportedSetting {
  /** Such as `spec.kernelArguments`. */
  readonly field: string;
  /** Human-readable: the config, the field, what the OS lacks, what to do. */
  readonly message: string;
  /** By name. */
  readonly nodes: readonly string[];
}

export interface NodePlan {
  readonly name: string;
  /** The pool that it leaves; null: it is already in this pool, or was in none. */
  readonly movesFrom: string | null;
  readonly current: string | null;
  readonly target: string | null;
  /** `skipped`: it cannot be updated now; `why` has the reason. */
  readonly turn: 'none' | 'update' | 'skipped';
  readonly why: string;
  /** The number of its wave; null: it is in none. */
  readonly wave: number | null;
  /** Whether the manifests change what happens to it. */
  readonly isAffected: boolean;
  readonly drain: PlannedDrain | null;
}

export interface PlannedDrain {
  /** `namespace/name`, by name. Null: the pods could not be listed. */
  readonly evicted: readonly string[] | null;
  /** Budgets that would block some of these evictions now. */
  readonly blockedBy: readonly BlockingBudget[];
}

export interface BlockingBudget {
  /** `namespace/name` */
  readonly budget: string;
  /** Evictions that it allows now. */
  readonly allowed: number;
  /** Pods of this machine that it protects. */
  readonly pods: readonly string[];
}

const exitCodes: Readonly<Record<PlanOutcome, number>> = {
  'no change': 0,
  refused: 1,
  'no disruption': 2,
  disruption: 3,
};

export const toExitCode = ({ outcome }: Pick<FleetPlan, 'outcome'>): number => exitCodes[outcome];

// A fleet as plain data: its configuration and its machines.

/** The configuration from users and the platform. */
export interface FleetState extends PlatformImages {
  /** Those of users and of Slipway; no rendered ones. */
  readonly machineConfigs: readonly MachineConfig[];
  /** The MachineConfiguration `cluster`. */
  readonly settings: MachineConfiguration | undefined;
  readonly controllerVersion: string;
}

/** The machines of the fleet. */
export interface Machines {
  readonly nodes: readonly Node[];
  /** By name: the configs of pools and machines. Some may be missing. */
  readonly rendered: ReadonlyMap<string, PlannedConfig['spec']>;
  /** The node of the controllers; null: not known. */
  readonly controllerNode: string | null;
}

export type ReadConfigs = ReadonlyMap<MachineConfig, ReadInput>;
