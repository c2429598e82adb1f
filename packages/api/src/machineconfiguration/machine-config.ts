import { ageColumn, type Kind, type ObjectOf, toResource, type Column } from '../kind.ts';
import { atomicList, flag, freeForm, nullable, object, optional, text } from '../schema.ts';
import { MACHINE_CONFIGURATION_GROUP } from './names.ts';

const schema = object(
  'A piece of configuration for machines: files, units, users, kernel arguments or the OS image. A pool merges the pieces it selects, in the order of their names, into one rendered MachineConfig that its machines run.',
  {
    spec: optional(
      object('What the machines shall look like.', {
        config: optional(
          freeForm(
            'An Ignition config, version 2 or 3, as an object: files, systemd units, ssh keys of the user core and so on.',
          ),
        ),
        kernelArguments: optional(
          nullable(
            atomicList(
              'Arguments for the kernel command line. They are added to those of the other MachineConfigs.',
              text(),
            ),
          ),
        ),
        kernelType: optional(
          text(
            'The kernel to run: default, realtime or 64k-pages. Of several MachineConfigs, the last one that asks for another than default wins.',
          ),
        ),
        extensions: optional(
          atomicList('Sets of packages from the extensions image to add to the OS, such as usbguard.', text()),
        ),
        fips: optional(
          flag(
            'Run in FIPS mode. True in one MachineConfig is true for the pool. Cannot be changed on a running machine.',
          ),
        ),
        osImageURL: optional(
          text('The OS image to run instead of the one the cluster brings. It is no longer updated with the cluster.'),
        ),
        baseOSExtensionsContainerImage: optional(
          text('The image that extensions are installed from. It must belong to the OS image.'),
        ),
      }),
    ),
  },
);

export type MachineConfig = ObjectOf<typeof schema>;

const columns: Column[] = [
  {
    name: 'GeneratedByController',
    type: 'string',
    jsonPath: '.metadata.annotations.machineconfiguration\\.openshift\\.io/generated-by-controller-version',
    description: 'Version of the controller that made it. Empty if a person did.',
  },
  {
    name: 'IgnitionVersion',
    type: 'string',
    jsonPath: '.spec.config.ignition.version',
    description: 'Version of the Ignition config in it.',
  },
  ageColumn,
];

export const machineConfigKind: Kind<MachineConfig> = {
  group: MACHINE_CONFIGURATION_GROUP,
  kind: 'MachineConfig',
  plural: 'machineconfigs',
  shortNames: ['mc'],
  namespaced: false,
  install: 'own',
  versions: [{ name: 'v1', schema, columns }],
};

export const machineConfigs = toResource(machineConfigKind, 'v1');
