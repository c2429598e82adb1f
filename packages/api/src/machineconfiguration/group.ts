export const machineConfigurationGroup = 'machineconfiguration.openshift.io';

/** The label by which MachineConfigs and PinnedImageSets say which pools they are for. */
export const roleLabel = 'machineconfiguration.openshift.io/role';
