// Pinned images for tests.
import {
  addedImageSetsAnnotation,
  type MachineConfigNode,
  type MachineConfigPool,
  maxPullingAnnotation,
  pinAssignmentAnnotation,
  type PinnedImageSet,
  ROLE_LABEL,
} from '@slipway/api';
import type { Stored } from '../kube-object.ts';
import { type AssignedSet, encodeAssignment } from '../pinned-images/assignment.ts';
import { formatPinProgress, type PinProgress } from '../pinned-images/pin-progress.ts';
import type { PinSnapshot } from '../reports/pin-report.ts';
import { sampleFleet, sampleNode, sampleMachineConfigPool } from './sample-fleet.ts';

export const sampleSet = (name: string, images = 2, generation = 1): Stored<PinnedImageSet> => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: '1', generation, labels: { [ROLE_LABEL]: 'worker' } },
  spec: {
    pinnedImages: Array.from({ length: images }, (_, index) => ({
      name: `registry.example.com/shop/${name}@sha256:${String(index).padStart(64, '0')}`,
    })),
  },
});

export interface SamplePinNode {
  readonly held?: Readonly<Record<string, number>>;
  /** Sets whose newest generation failed. */
  readonly failing?: readonly string[];
  readonly told?: readonly Stored<PinnedImageSet>[];
  readonly progress?: Partial<PinProgress>;
  readonly isPulling?: boolean;
  readonly failure?: string;
}

export const sampleProgress = (more: Partial<PinProgress> = {}): PinProgress => ({
  sets: [],
  bytes: null,
  bytesPerSecond: null,
  secondsLeft: null,
  waitsFor: '',
  lastError: '',
  store: null,
  ...more,
});

/** The report of a daemon. */
function samplePinRecord(name: string, node: SamplePinNode): MachineConfigNode {
  const { told = [], progress, isPulling = false, failure } = node;
  const sets = told.map(({ metadata: { name: set, uid, generation = 1 } }) => ({ name: set, uid, generation }));
  const at = '2026-01-02T03:04:05Z';
  const condition = (type: string, isTrue: boolean, reason: string, message: string) => ({
    type,
    status: isTrue ? ('True' as const) : ('False' as const),
    reason: isTrue ? reason : 'AsExpected',
    message,
    lastTransitionTime: at,
  });
  return {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    metadata: {
      name,
      annotations: { [pinAssignmentAnnotation]: encodeAssignment({ sets, mayPull: true, parallel: 5 }) },
    },
    spec: { node: { name }, pool: { name: 'worker' }, configVersion: { desired: 'rendered-worker-1' } },
    status: {
      conditions: [
        condition(
          'PinnedImageSetsProgressing',
          isPulling,
          'ImagePrefetch',
          progress === undefined ? '' : formatPinProgress(sampleProgress(progress)),
        ),
        condition('PinnedImageSetsDegraded', failure !== undefined, 'PrefetchFailed', failure ?? ''),
      ],
      pinnedImageSets: sets.map((set) => buildEntry(set, node)),
    },
  };
}

type Entry = NonNullable<NonNullable<MachineConfigNode['status']>['pinnedImageSets']>[number];

function buildEntry(
  { name, generation }: AssignedSet,
  { held = {}, failing = [], failure = 'it failed' }: SamplePinNode,
): Entry {
  const current = held[name];
  return {
    name,
    desiredGeneration: generation,
    ...(current !== undefined && { currentGeneration: current }),
    ...(failing.includes(name) && { lastFailedGeneration: generation, lastFailedGenerationError: failure }),
  };
}

export interface SamplePins {
  readonly sets: readonly Stored<PinnedImageSet>[];
  /** Names in spec.pinnedImageSets; omitted: all sets. */
  readonly named?: readonly string[];
  readonly nodes: Readonly<Record<string, SamplePinNode | null>>;
  readonly maxPulling?: string;
}

/** A pool worker, its sets and machines. A null machine has reported nothing. */
export function samplePins({
  sets,
  nodes,
  maxPulling,
  named = sets.map(({ metadata }) => metadata.name),
}: SamplePins): PinSnapshot {
  const pool = sampleMachineConfigPool('worker', {
    annotations: {
      [addedImageSetsAnnotation]: JSON.stringify(named),
      ...(maxPulling !== undefined && { [maxPullingAnnotation]: maxPulling }),
    },
  });
  const spec: MachineConfigPool['spec'] = {
    ...pool.spec,
    machineConfigSelector: { matchLabels: { [ROLE_LABEL]: 'worker' } },
    pinnedImageSets: named.map((name) => ({ name })),
  };
  return {
    fleet: sampleFleet({
      pools: [{ ...pool, spec }],
      nodes: Object.keys(nodes).map((name) => sampleNode(name)),
      records: Object.entries(nodes).flatMap(([name, node]) => (node === null ? [] : [samplePinRecord(name, node)])),
    }),
    sets: new Map(sets.map((set) => [set.metadata.name, set])),
  };
}
