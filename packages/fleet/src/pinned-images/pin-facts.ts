// Pools and machines, as far as pinned images are concerned.
import type { MachineConfigNode, MachineConfigPool } from '@slipway/api';
import { maxPullingAnnotation, pinAssignmentAnnotation } from '@slipway/api/names';
import { isControlPlanePool } from '../pool-membership.ts';
import { type AssignedSet, decodeAssignment, type PinAssignment, listSetNames } from './assignment.ts';

export interface PinPool {
  readonly name: string;
  readonly generation: number;
  readonly isControlPlane: boolean;
  /** Those of spec.pinnedImageSets that are there. */
  readonly sets: readonly AssignedSet[];
  /** Those that are not. */
  readonly missing: readonly string[];
  /** As somebody wrote it; undefined: all may pull at once. */
  readonly maxPulling: string | undefined;
}

interface SetIdentity {
  readonly metadata: { readonly name: string; readonly uid: string; readonly generation?: number };
}

export function buildPinPool(pool: MachineConfigPool, setNamed: (name: string) => SetIdentity | undefined): PinPool {
  const { name, generation = 0, annotations = {} } = pool.metadata;
  const named = listSetNames(pool).map((each) => ({ name: each, set: setNamed(each) }));
  return {
    name,
    generation,
    isControlPlane: isControlPlanePool(name),
    sets: named.flatMap(({ set }) => (set === undefined ? [] : [toAssignedSet(set)])),
    missing: named.filter(({ set }) => set === undefined).map((each) => each.name),
    maxPulling: annotations[maxPullingAnnotation],
  };
}

const toAssignedSet = ({ metadata: { name, uid, generation = 1 } }: SetIdentity): AssignedSet => ({
  name,
  uid,
  generation,
});

/** What is known of a machine: what it was told, and what it says. */
export interface PinNode {
  readonly name: string;
  /** All that select it, whichever has it. */
  readonly pools: readonly string[];
  readonly isReady: boolean;
  /** Null: it was told nothing yet, or nothing that can be read. */
  readonly told: PinAssignment | null;
  readonly reported: ReadonlyMap<string, ReportedSet>;
  /** What its condition PinnedImageSetsDegraded says; null: it does not hold. */
  readonly failure: string | null;
}

export interface ReportedSet {
  /** The generation whose images it holds. */
  readonly current: number | null;
  /** Whether the generation that it works on has failed. */
  readonly isFailing: boolean;
}

export const pinConditions = {
  progressing: 'PinnedImageSetsProgressing',
  degraded: 'PinnedImageSetsDegraded',
} as const;

type Reporting = Pick<PinNode, 'told' | 'reported' | 'failure'>;

export function readPinReport({ metadata, status }: MachineConfigNode): Reporting {
  const told = metadata.annotations?.[pinAssignmentAnnotation];
  const degraded = status?.conditions?.find(({ type }) => type === pinConditions.degraded);
  return {
    told: told === undefined ? null : decodeAssignment(told),
    reported: new Map((status?.pinnedImageSets ?? []).map((entry) => [entry.name, toReportedSet(entry)])),
    failure: degraded?.status === 'True' ? degraded.message : null,
  };
}

type Entry = NonNullable<NonNullable<MachineConfigNode['status']>['pinnedImageSets']>[number];

const toReportedSet = ({ currentGeneration, desiredGeneration, lastFailedGeneration }: Entry): ReportedSet => ({
  current: currentGeneration ?? null,
  isFailing: lastFailedGeneration !== undefined && lastFailedGeneration === desiredGeneration,
});

/**
 * Whether the machine says that it holds a set. What it says is about the set that it was told of: one that was deleted and
 * made again is another.
 */
export function holds({ told, reported }: PinNode, { name, uid, generation }: AssignedSet): boolean {
  const current = reported.get(name)?.current ?? null;
  return current !== null && current >= generation && isSetAssigned(told, { name, uid });
}

export const isSetAssigned = (told: PinAssignment | null, { name, uid }: Pick<AssignedSet, 'name' | 'uid'>): boolean =>
  told?.sets.some((set) => set.name === name && set.uid === uid) === true;
