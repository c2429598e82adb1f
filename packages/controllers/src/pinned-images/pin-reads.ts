// What the controllers of pinned images watch. Sources with the same function share a store.
import {
  machineConfigNodes,
  machineConfigPools,
  pinAssignmentAnnotation,
  type PinnedImageSet,
  pinnedImageSets,
} from '@slipway/api';
import type { MachineConfigNode } from '@slipway/api';
import { pinConditions } from '@slipway/fleet';
import type { Read, Source, Stored } from '@slipway/kube';

/** Its images are for the machines: here their names would only take memory. */
export const imageSets: Source<PinnedImageSet> = { resource: pinnedImageSets, as: 'metadata' };

/** There are thousands, and their messages change all the time: what is kept changes when a machine has come further. */
function keepPins({ metadata, spec, status }: Stored<MachineConfigNode>): Stored<MachineConfigNode> {
  const { name, uid, resourceVersion, annotations } = metadata;
  const told = annotations?.[pinAssignmentAnnotation];
  const { pinnedImageSets: reported, conditions = [] } = status ?? {};
  return {
    metadata: {
      name,
      uid,
      resourceVersion,
      ...(told !== undefined && { annotations: { [pinAssignmentAnnotation]: told } }),
    },
    spec,
    status: {
      ...(reported !== undefined && { pinnedImageSets: reported }),
      conditions: conditions.filter(({ type }) => type === pinConditions.degraded),
    },
  };
}

export const pinRecords: Source<MachineConfigNode> = {
  resource: machineConfigNodes,
  expect: 'many',
  project: keepPins,
};

export const everyPool = (_: unknown, read: Read): string[] =>
  [...read(machineConfigPools).values()].map(({ metadata }) => metadata.name);

/** One that is being deleted is as good as gone. */
export const setsIn = (read: Read): Stored<PinnedImageSet>[] =>
  [...read(pinnedImageSets).values()].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
