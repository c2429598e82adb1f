import { ageColumn, conditionColumn, type Kind, type ObjectOf, toResource } from '../kind.ts';
import { choice, freeForm, int32, int64, nullable, object, optional, type Rule, setList, text } from '../schema.ts';
import { conditions } from '../shared-fields.ts';
import { bootImageSkewEnforcement, bootImageSkewEnforcementStatus } from './boot-image-skew.ts';
import { managedBootImages } from './managed-boot-images.ts';
import { nodeDisruptionPolicy, nodeDisruptionPolicyStatus } from './node-disruption-policy.ts';

const logLevel = (description: string) =>
  choice(['', 'Normal', 'Debug', 'Trace', 'TraceAll'], description, { default: 'Normal' });

const spec = object('How machines are configured across the cluster.', {
  managementState: optional(
    text('Whether the operator works at all: Managed, Unmanaged, Removed or Force.', {
      pattern: '^(Managed|Unmanaged|Force|Removed)$',
    }),
  ),
  nodeDisruptionPolicy: optional(nodeDisruptionPolicy),
  managedBootImages: optional(
    managedBootImages('Which MachineSets and the like always boot the image that the release payload brings.'),
  ),
  bootImageSkewEnforcement: optional(bootImageSkewEnforcement),
  irreconcilableValidationOverrides: optional(
    object(
      'Differences between pools and first-boot configurations to let pass, though running machines cannot take them on.',
      {
        storage: optional(
          setList(
            'Parts of the storage section of a config that may differ: only machines installed from now on get them.',
            choice(['Disks', 'FileSystems', 'Raid']),
            { minItems: 1, maxItems: 3 },
          ),
        ),
      },
      { minProperties: 1 },
    ),
  ),
  logLevel: optional(logLevel('How much the daemons and servers log: Normal, Debug, Trace or TraceAll.')),
  operatorLogLevel: optional(logLevel('How much the controllers log: Normal, Debug, Trace or TraceAll.')),
  forceRedeploymentReason: optional(
    text('Kept for manifests of the platform. Slipway has nothing to deploy anew and ignores it.'),
  ),
  failedRevisionLimit: optional(int32('Kept for manifests of the platform. Slipway ignores it.')),
  succeededRevisionLimit: optional(int32('Kept for manifests of the platform. Slipway ignores it.')),
  observedConfig: optional(nullable(freeForm('Kept for manifests of the platform. Slipway ignores it.'))),
  unsupportedConfigOverrides: optional(nullable(freeForm('Kept for manifests of the platform. Slipway ignores it.'))),
});

const status = object('What is in force.', {
  observedGeneration: optional(int64('The generation of this object that the status is for.')),
  conditions: optional(
    conditions('Findings about the cluster: BootImageUpdateProgressing, BootImageUpdateDegraded and others.'),
  ),
  nodeDisruptionPolicyStatus: optional(nodeDisruptionPolicyStatus),
  managedBootImagesStatus: optional(
    managedBootImages('The boot image management in force, platform defaults included.'),
  ),
  bootImageSkewEnforcementStatus: optional(bootImageSkewEnforcementStatus),
});

// Recording the oldest boot image automatically is honest only where every MachineSet of the Machine API is managed.
const MACHINE_SETS = "m.resource == 'machinesets' && m.apiGroup == 'machine.openshift.io'";

const automaticNeeds = (condition: string, message: string): Rule => ({
  rule: `self.?status.bootImageSkewEnforcementStatus.mode.orValue('') != 'Automatic' || (${condition})`,
  message: `with boot image skew enforcement in mode Automatic, ${message}`,
});

const schema = object(
  'Settings of machine configuration for the whole cluster: what changes cost a node, and which boot images are kept current. There is one such object, named cluster.',
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
          description: 'Boot images are being brought to the payload.',
        }),
        conditionColumn('BootImageUpdateDegraded', {
          name: 'BootImagesDegraded',
          description: 'Some boot images could not be; see the conditions.',
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
