// What a pool says of its images, at every moment that it says something else; and what its machines said, at every moment.
import {
  type MachineConfigNode,
  machineConfigNodes,
  type MachineConfigPool,
  machineConfigPools,
  pinAssignmentAnnotation,
} from '@slipway/api';
import { decodeAssignment } from '@slipway/fleet';
import { type Client, createInformer, type Stored } from '@slipway/kube';

export interface Reading {
  readonly machines: number;
  readonly updated: number;
  readonly ready: number;
  readonly available: number;
  readonly unavailable: number;
}

export interface PinHistory {
  /** What the pool said, in order; each differs from the one before. */
  readonly readings: readonly Reading[];
  /** Whether machines were like this at some moment since the watch began: so many that hold the set, so many that fail. */
  wasSo(updated: number, degraded: number): boolean;
  stop(): void;
}

type State = 'updated' | 'degraded' | 'other';

/**
 * Its own count, from what machines say themselves. A set that is edited comes by another watch than they: what they hold counts
 * for each of its generations, from the beginning.
 */
export async function watchPins(
  client: Client,
  { pool, set, generations }: { pool: string; set: string; generations: readonly number[] },
): Promise<PinHistory> {
  const ended = new AbortController();
  const readings: Reading[] = [];
  const seen = new Set<string>();
  const states = generations.map((generation) => ({ generation, of: new Map<string, State>() }));
  const records = createInformer<MachineConfigNode>(client.transport, { resource: machineConfigNodes });
  const pools = createInformer<MachineConfigPool>(client.transport, { resource: machineConfigPools });
  records.onChange((change) => {
    if (change.type === 'deleted') return;
    for (const { generation, of } of states) {
      of.set(change.object.metadata.name, computeState(change.object, set, generation));
      const count = (state: State): number => [...of.values()].filter((each) => each === state).length;
      seen.add(`${count('updated')}/${count('degraded')}`);
    }
  });
  pools.onChange((change) => {
    if (change.type === 'deleted' || change.object.metadata.name !== pool) return;
    const reading = toReading(change.object);
    if (reading !== null && JSON.stringify(reading) !== JSON.stringify(readings.at(-1))) readings.push(reading);
  });
  for (const informer of [records, pools]) informer.start(ended.signal);
  await Promise.all([records.synced, pools.synced]);
  return {
    readings,
    wasSo: (updated, degraded) => seen.has(`${updated}/${degraded}`),
    stop: () => ended.abort(),
  };
}

function computeState({ metadata, status = {} }: Stored<MachineConfigNode>, set: string, generation: number): State {
  const { conditions = [], pinnedImageSets = [] } = status;
  if (conditions.some((each) => each.type === 'PinnedImageSetsDegraded' && each.status === 'True')) return 'degraded';
  const isHeld = pinnedImageSets.some(
    ({ name, currentGeneration = 0 }) => name === set && currentGeneration >= generation,
  );
  return isHeld && isAssigned(metadata.annotations, set) ? 'updated' : 'other';
}

const isAssigned = (annotations: Record<string, string> = {}, set: string): boolean =>
  decodeAssignment(annotations[pinAssignmentAnnotation] ?? '')?.sets.some(({ name }) => name === set) === true;

function toReading({ status }: MachineConfigPool): Reading | null {
  const found = status?.poolSynchronizersStatus?.find((each) => each.poolSynchronizerType === 'PinnedImageSets');
  if (found === undefined) return null;
  return {
    machines: found.machineCount,
    updated: found.updatedMachineCount,
    ready: found.readyMachineCount,
    available: found.availableMachineCount,
    unavailable: found.unavailableMachineCount,
  };
}
