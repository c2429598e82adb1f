import { infrastructures } from '../config/infrastructure.ts';
import type { PlatformType } from '../config/platform-fields.ts';
import type { Identity } from '../identity.ts';
import { celList, type PolicyDefinition } from '../policy.ts';
import { SINGLETON_NAME } from '../machineconfiguration/names.ts';
import { machineConfigurations } from './machine-configuration.ts';

/** Settings under another name would be believed in and have no effect. */
export const machineConfigurationPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'machine-configuration-guards',
  description: 'There is one MachineConfiguration in a cluster, named cluster: another would have no effect.',
  resource: machineConfigurations,
  operations: ['CREATE', 'UPDATE'],
  exempt,
  validations: [
    {
      expression: `object.metadata.name == '${SINGLETON_NAME}'`,
      message: `there is one MachineConfiguration in a cluster: its name must be '${SINGLETON_NAME}'`,
    },
  ],
});

/**
 * Where there are MachineSets whose boot images we can bring to the payload's, or say how a person does. How, fleet says for each
 * (boot-images/platforms): one that is missing there does not compile.
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
 * Opting in where nothing can come of it would be believed in and have no effect. To opt out is always possible, and what
 * was opted in before the policy stays as it is until it is changed.
 */
export const bootImagePlatformPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'managed-boot-images-platform',
  description: `Boot images are managed only on platforms where that has an effect: ${supported}.`,
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
      // A status that is not written yet says nothing, and so nothing is refused by it.
      expression: "params.?status.platformStatus.type.orValue(params.?status.platform.orValue(''))",
    },
  ],
  validations: [
    {
      expression: `variables.platform == '' || variables.platform in ${celList(bootImagePlatforms)}`,
      message: `spec.managedBootImages has an effect only on these platforms: ${supported}`,
      messageExpression: `'spec.managedBootImages of MachineConfiguration ' + object.metadata.name + ' opts in to managed boot images, which do nothing on the platform of this cluster, ' + variables.platform + ' (status.platformStatus.type of Infrastructure cluster). They are for ${supported}. Leave the field out, or set selection.mode None'`,
    },
  ],
  param: { resource: infrastructures, name: SINGLETON_NAME },
});
