// The resources that a daemon requests, without their schemas: those would cost 40 MB of memory on every machine.
import type { Resource } from './kind.ts';
import type { MachineConfigNode } from './machineconfiguration/machine-config-node.ts';
import type { MachineConfig } from './machineconfiguration/machine-config.ts';
import { MACHINE_CONFIGURATION_GROUP } from './machineconfiguration/names.ts';
import type { PinnedImageSet } from './machineconfiguration/pinned-image-set.ts';
import type { MachineConfiguration } from './operator/machine-configuration.ts';

export { customResourceDefinitions, events, nodes } from './core/kinds.ts';
export type { Event, InstalledCrd, Node } from './core/kinds.ts';

export const machineConfigs: Resource<MachineConfig> = {
  group: MACHINE_CONFIGURATION_GROUP,
  version: 'v1',
  kind: 'MachineConfig',
  plural: 'machineconfigs',
  namespaced: false,
};

export const machineConfigNodes: Resource<MachineConfigNode> = {
  group: MACHINE_CONFIGURATION_GROUP,
  version: 'v1',
  kind: 'MachineConfigNode',
  plural: 'machineconfignodes',
  namespaced: false,
};

export const machineConfigurations: Resource<MachineConfiguration> = {
  group: 'operator.openshift.io',
  version: 'v1',
  kind: 'MachineConfiguration',
  plural: 'machineconfigurations',
  namespaced: false,
};

export const pinnedImageSets: Resource<PinnedImageSet> = {
  group: MACHINE_CONFIGURATION_GROUP,
  version: 'v1',
  kind: 'PinnedImageSet',
  plural: 'pinnedimagesets',
  namespaced: false,
};
