import { infrastructures } from '../config/infrastructure.ts';
import type { PlatformType } from '../config/platform-fields.ts';
import type { Identity } from '../identity.ts';
import { celList, type PolicyDefinition } from '../policy.ts';
import { SINGLETON_NAME } from '../machineconfiguration/names.ts';
import { type MachineConfiguration, machineConfigurations } from './machine-configuration.ts';

const ONLY_ONE = `only one MachineConfiguration may exist, and its name must be '${SINGLETON_NAME}'`;

/** Settings under another name would have no effect, which users would not notice. */
export const machineConfigurationPolicy = (exempt: readonly Identity[]): PolicyDefinition<MachineConfiguration> => ({
  name: 'machine-configuration-guards',
  description: 'The only MachineConfiguration of a cluster is named cluster. Others would have no effect.',
  resource: machineConfigurations,
  operations: ['CREATE', 'UPDATE'],
  exempt,
  validations: [
    {
      expression: `object.metadata.name == '${SINGLETON_NAME}'`,
      message: ONLY_ONE,
      field: 'metadata.name',
      refuses: ({ metadata }) => (metadata.name === SINGLETON_NAME ? undefined : ONLY_ONE),
    },
  ],
});

/**
 * Platforms with MachineSets whose boot images we can update to the payload's, or can explain how to update by hand.
 * For each, fleet implements that (boot-images/platforms); a missing platform does not compile.
 */
export const bootImagePlatforms = [
  'AlibabaCloud',
  'AWS',
  'Azure',
  'BareMetal',
  'GCP',
  'IBMCloud',
  'Libvirt',
  'Nutanix',
  'OpenStack',
  'oVirt',
  'PowerVS',
  'VSphere',
] as const satisfies readonly PlatformType[];

const supported = bootImagePlatforms.join(', ');

const entries = (of: 'object' | 'oldObject'): string => `${of}.?spec.managedBootImages.machineManagers.orValue([])`;

/**
 * Opting in on other platforms would have no effect, which users would not notice. Opting out is always possible, and
 * entries that predate the policy stay valid until they are changed.
 */
export const bootImagePlatformPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'managed-boot-images-platform',
  description: `Boot images can only be managed on these platforms: ${supported}.`,
  resource: machineConfigurations,
  operations: ['CREATE', 'UPDATE'],
  exempt,
  about: {
    name: 'opts-in',
    expression: `${entries('object')}.exists(entry, entry.selection.mode != 'None' && (request.operation == 'CREATE' || !(entry in ${entries('oldObject')})))`,
  },
  variables: [
    {
      name: 'platform',
      // Empty while the status is not written yet; then nothing is denied.
      expression: "params.?status.platformStatus.type.orValue(params.?status.platform.orValue(''))",
    },
  ],
  validations: [
    {
      expression: `variables.platform == '' || variables.platform in ${celList(bootImagePlatforms)}`,
      message: `spec.managedBootImages only works on these platforms: ${supported}`,
      messageExpression: `'spec.managedBootImages of MachineConfiguration ' + object.metadata.name + ' opts in to managed boot images, which do not work on the platform of this cluster, ' + variables.platform + ' (status.platformStatus.type of Infrastructure cluster). They work on ${supported}. Omit the field, or set selection.mode to None'`,
    },
  ],
  param: { resource: infrastructures, name: SINGLETON_NAME },
});
