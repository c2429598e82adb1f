import { machineConfigs, poolLabel } from '@slipway/api';
import type { MachineConfig } from '@slipway/api';
import type { Source } from '@slipway/kube';

// Sources that are the same share one informer, so those that several controllers read stand here.

/** MachineConfigs as they were given, whole: users' and built-in ones. Not the rendered ones, which are large and many. */
export const givenMachineConfigs: Source<MachineConfig> = {
  resource: machineConfigs,
  as: 'full',
  labelSelector: `!${poolLabel}`,
};

/** What was rendered: that it is there, for which pool, and whether it is in use. */
export const renderedMachineConfigs: Source<MachineConfig> = {
  resource: machineConfigs,
  as: 'metadata',
  labelSelector: poolLabel,
};
