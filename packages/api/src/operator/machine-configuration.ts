import { ageColumn, conditionColumn, type Kind, type ObjectOf, toResource } from '../kind.ts';
import { choice, freeForm, int32, int64, nullable, object, optional, type Rule, setList, text } from '../schema.ts';
import { conditions } from '../shared-fields.ts';
import { bootImageSkewEnforcement, bootImageSkewEnforcementStatus } from './boot-image-skew.ts';
import { managedBootImages } from './managed-boot-images.ts';
import { nodeDisruptionPolicy, nodeDisruptionPolicyStatus } from './node-disruption-policy.ts';

const logLevel = (description: string) =>
  choice(['', 'Normal', 'Debug', 'Trace', 'TraceAll'], description, { default: 'Normal' });

const spec = object('Cluster-wide settings for machine configuration.', {
  managementState: optional(
    text('Whether the operator is active: Managed, Unmanaged, Removed or Force.', {
      pattern: '^(Managed|Unmanaged|Force|Removed)$',
      expected: 'be one of Managed, Unmanaged, Force, Removed',
    }),
  ),
  nodeDisruptionPolicy: optional(nodeDisruptionPolicy),
  managedBootImages: optional(
    managedBootImages(
      'MachineSets and similar resources whose boot image is kept at the version in the release payload.',
    ),
  ),
  bootImageSkewEnforcement: optional(bootImageSkewEnforcement),
  irreconcilableValidationOverrides: optional(
    object(
      'Differences between pools and first-boot configurations to tolerate, although running machines cannot apply them.',
      {
        storage: optional(
          setList(
            'Parts of the storage section of a config that may differ. Only newly installed machines apply them.',
            choice(['Disks', 'FileSystems', 'Raid']),
            { minItems: 1, maxItems: 3 },
          ),
        ),
      },
      { minProperties: 1 },
    ),
  ),
  logLevel: optional(logLevel('Log level of the daemons and servers: Normal, Debug, Trace or TraceAll.')),
  operatorLogLevel: optional(logLevel('Log level of the controllers: Normal, Debug, Trace or TraceAll.')),
  forceRedeploymentReason: optional(
    text('Accepted for compatibility with manifests of the platform. Slipway ignores it.'),
  ),
  failedRevisionLimit: optional(
    int32('Accepted for compatibility with manifests of the platform. Slipway ignores it.'),
  ),
  succeededRevisionLimit: optional(
    int32('Accepted for compatibility with manifests of the platform. Slipway ignores it.'),
  ),
  observedConfig: optional(
    nullable(freeForm('Accepted for compatibility with manifests of the platform. Slipway ignores it.')),
  ),
  unsupportedConfigOverrides: optional(
    nullable(freeForm('Accepted for compatibility with manifests of the platform. Slipway ignores it.')),
  ),
});

const status = object('Settings in effect.', {
  observedGeneration: optional(int64('The metadata.generation that this status reflects.')),
  conditions: optional(
    conditions('Conditions of the cluster: BootImageUpdateProgressing, BootImageUpdateDegraded and others.'),
  ),
  nodeDisruptionPolicyStatus: optional(nodeDisruptionPolicyStatus),
  managedBootImagesStatus: optional(
    managedBootImages('The boot image management in effect, including platform defaults.'),
  ),
  bootImageSkewEnforcementStatus: optional(bootImageSkewEnforcementStatus),
});

// The automatically recorded oldest boot image is correct only if every MachineSet of the Machine API is managed.
const MACHINE_SETS = "m.resource == 'machinesets' && m.apiGroup == 'machine.openshift.io'";

const automaticNeeds = (condition: string, message: string): Rule => ({
  rule: `self.?status.bootImageSkewEnforcementStatus.mode.orValue('') != 'Automatic' || (${condition})`,
  message: `with boot image skew enforcement in mode Automatic, ${message}`,
});

const schema = object(
  'Cluster-wide settings for machine configuration: how disruptive changes are for nodes, and which boot images are kept current. There is one MachineConfiguration, named cluster.',
  { spec, status: optional(status) },
  {
    rules: [
      automaticNeeds(
        'has(self.spec.managedBootImages) || self.?status.managedBootImagesStatus.hasValue()',
        'boot images must be managed: set spec.managedBootImages',
      ),
      automaticNeeds(
        '!self.?spec.managedBootImages.machineManagers.hasValue() || size(self.spec.managedBootImages.machineManagers) > 0',
        'spec.managedBootImages.machineManagers must not be empty',
      ),
      automaticNeeds(
        `!self.?spec.managedBootImages.machineManagers.hasValue() || !self.spec.managedBootImages.machineManagers.exists(m, ${MACHINE_SETS}) || self.spec.managedBootImages.machineManagers.exists(m, ${MACHINE_SETS} && m.selection.mode == 'All')`,
        'the entry for machinesets of machine.openshift.io must have selection mode All',
      ),
      automaticNeeds(
        `!self.?status.managedBootImagesStatus.machineManagers.hasValue() || self.status.managedBootImagesStatus.machineManagers.exists(m, ${MACHINE_SETS} && m.selection.mode == 'All')`,
        'status.managedBootImagesStatus must manage all machinesets of machine.openshift.io',
      ),
    ],
  },
);

export type MachineConfiguration = ObjectOf<typeof schema>;

export const machineConfigurationKind: Kind<MachineConfiguration> = {
  group: 'operator.openshift.io',
  kind: 'MachineConfiguration',
  plural: 'machineconfigurations',
  namespaced: false,
  install: 'own',
  versions: [
    {
      name: 'v1',
      schema,
      columns: [
        conditionColumn('BootImageUpdateProgressing', {
          name: 'BootImagesProgressing',
          description: 'Boot images are being updated to the release payload.',
        }),
        conditionColumn('BootImageUpdateDegraded', {
          name: 'BootImagesDegraded',
          description: 'Some boot images could not be updated; see the conditions.',
        }),
        {
          name: 'BootImageSkew',
          type: 'string',
          jsonPath: '.status.bootImageSkewEnforcementStatus.mode',
          description: 'Who records the oldest boot image in use.',
          priority: 1,
        },
        ageColumn,
      ],
      status: true,
    },
  ],
};

export const machineConfigurations = toResource(machineConfigurationKind, 'v1');
