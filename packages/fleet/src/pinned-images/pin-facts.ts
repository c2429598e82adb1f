// Pools and machines, as far as pinned images need them.
import type { MachineConfigNode, MachineConfigPool } from '@slipway/api';
import { maxPullingAnnotation, pinAssignmentAnnotation } from '@slipway/api/names';
import { isControlPlanePool } from '../pool-membership.ts';
import { type AssignedSet, decodeAssignment, type PinAssignment, listSetNames } from './assignment.ts';

export interface PinPool {
  readonly name: string;
  readonly generation: number;
  readonly isControlPlane: boolean;
  /** The existing sets of spec.pinnedImageSets. */
  readonly sets: readonly AssignedSet[];
  /** The missing ones. */
  readonly missing: readonly string[];
  /** As the user wrote it; undefined: the default applies. */
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

/** A machine: what it is assigned, and what it reports. */
export interface PinNode {
  readonly name: string;
  /** All pools that select it, whichever it belongs to. */
  readonly pools: readonly string[];
  readonly isReady: boolean;
  /** Null: it has no assignment, or an unreadable one. */
  readonly told: PinAssignment | null;
  readonly reported: ReadonlyMap<string, ReportedSet>;
  /** The message of its condition PinnedImageSetsDegraded; null: the condition is not true. */
  readonly failure: string | null;
  /** Since when that condition is true; null: it is not, or the time is unknown. */
  readonly failingSince: number | null;
}

export interface ReportedSet {
  /** The generation whose images it has pinned. */
  readonly current: number | null;
  /** Whether the generation in progress has failed. */
  readonly isFailing: boolean;
}

export const pinConditions = {
  progressing: 'PinnedImageSetsProgressing',
  degraded: 'PinnedImageSetsDegraded',
} as const;

type Reporting = Pick<PinNode, 'told' | 'reported' | 'failure' | 'failingSince'>;

export function readPinReport({ metadata, status }: MachineConfigNode): Reporting {
  const told = metadata.annotations?.[pinAssignmentAnnotation];
  const degraded = status?.conditions?.find(({ type }) => type === pinConditions.degraded);
  return {
    told: told === undefined ? null : decodeAssignment(told),
    reported: new Map((status?.pinnedImageSets ?? []).map((entry) => [entry.name, toReportedSet(entry)])),
    failure: degraded?.status === 'True' ? degraded.message : null,
    failingSince: degraded?.status === 'True' ? parseTime(degraded.lastTransitionTime) : null,
  };
}

function parseTime(text: string): number | null {
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}

type Entry = NonNullable<NonNullable<MachineConfigNode['status']>['pinnedImageSets']>[number];

/** A generation that failed and then succeeded stays in the report, without an error. */
const toReportedSet = (entry: Entry): ReportedSet => ({
  current: entry.currentGeneration ?? null,
  isFailing: entry.lastFailedGeneration === entry.desiredGeneration && (entry.lastFailedGenerationError ?? '') !== '',
});

/**
 * Whether the machine reports that it has pinned a set. Its report is about the assigned set: one that was deleted and
 * created again is a different set.
 */
export function holds({ told, reported }: PinNode, { name, uid, generation }: AssignedSet): boolean {
  const current = reported.get(name)?.current ?? null;
  return current !== null && current >= generation && isSetAssigned(told, { name, uid });
}

/** The codes with which a daemon reports it. */
const DISK_FULL = /\bSLW_PINNING_NO_SPACE\b/;
const WOULD_NOT_FIT = /\bSLW_PINNING_WOULD_NOT_FIT\b/;

export const isDiskFull = ({ failure }: Pick<PinNode, 'failure'>): boolean =>
  failure !== null && DISK_FULL.test(failure);

/** It did not start to pull, because of the sizes that the registry reports. */
export const isDiskTooSmall = ({ failure }: Pick<PinNode, 'failure'>): boolean =>
  failure !== null && WOULD_NOT_FIT.test(failure);

export const isSetAssigned = (told: PinAssignment | null, { name, uid }: Pick<AssignedSet, 'name' | 'uid'>): boolean =>
  told?.sets.some((set) => set.name === name && set.uid === uid) === true;
