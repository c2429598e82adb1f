import { ageColumn, type Kind, type ObjectOf, toResource, type Column } from '../kind.ts';
import { atomicList, flag, freeForm, nullable, object, optional, text } from '../schema.ts';
import { MACHINE_CONFIGURATION_GROUP } from './names.ts';

/** What `spec.kernelType` can be. Empty has the same meaning as default. */
export const kernelTypes = ['default', 'realtime', '64k-pages'] as const;

/** What `spec.extensions` can contain: sets of packages in the extensions images of RHCOS and SCOS. */
export const extensionNames = [
  'ipsec',
  'kerberos',
  'kernel-devel',
  'sandboxed-containers',
  'sysstat',
  'two-node-ha',
  'usbguard',
] as const;

const schema = object(
  'A piece of machine configuration: files, systemd units, users, kernel arguments or the OS image. A pool merges the MachineConfigs that it selects, in the order of their names, into one rendered MachineConfig, which its machines run.',
  {
    spec: optional(
      object('Desired configuration of the machines.', {
        config: optional(
          freeForm(
            'Ignition config, spec version 2 or 3, as an object: files, systemd units, SSH keys of the user core and so on.',
            ['ignition', 'passwd', 'storage', 'systemd'],
          ),
        ),
        kernelArguments: optional(
          nullable(
            atomicList(
              'Kernel command line arguments. They are appended to those of the other MachineConfigs.',
              text(),
            ),
          ),
        ),
        kernelType: optional(
          text(
            'Kernel to run: default, realtime or 64k-pages. If several MachineConfigs set it, the last value other than default wins.',
          ),
        ),
        extensions: optional(
          atomicList('Package sets from the extensions image to add to the OS, such as usbguard.', text()),
        ),
        fips: optional(
          flag(
            'Enables FIPS mode. If one MachineConfig enables it, the whole pool runs in FIPS mode. Cannot be changed on a running machine.',
          ),
        ),
        osImageURL: optional(
          text('OS image to run instead of the one from the release payload. Cluster upgrades no longer update it.'),
        ),
        baseOSExtensionsContainerImage: optional(
          text('Image that extensions are installed from. It must match the OS image.'),
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
    description: 'Version of the controller that generated it. Empty if a user created it.',
  },
  {
    name: 'IgnitionVersion',
    type: 'string',
    jsonPath: '.spec.config.ignition.version',
    description: 'Spec version of its Ignition config.',
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
