import { machineConfigPools } from '@slipway/api';
import type { MachineConfigPool } from '@slipway/api';
import type { Read, Source, Stored } from '@slipway/kube';

/**
 * Which pools there are, and nothing more: the version is replaced by one that never changes, so that the many updates
 * of a pool's status in a rollout wake nobody here.
 */
export const poolSource = {
  resource: machineConfigPools,
  as: 'metadata',
  project: ({ metadata: { name, uid } }: Stored<MachineConfigPool>): Stored<MachineConfigPool> => ({
    metadata: { name, uid, resourceVersion: uid },
    spec: {},
  }),
} satisfies Source<MachineConfigPool>;

export const poolNames = (read: Read): string[] =>
  [...read(machineConfigPools).values()].map(({ metadata }) => metadata.name);
