import type { Identity } from '../identity.ts';
import type { PolicyDefinition } from '../policy.ts';
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
      expression: "object.metadata.name == 'cluster'",
      message: "there is one MachineConfiguration in a cluster: its name must be 'cluster'",
    },
  ],
});
