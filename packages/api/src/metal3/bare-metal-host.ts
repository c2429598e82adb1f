import { ageColumn, type Kind, type ObjectOf, toResource } from '../kind.ts';
import { atomicList, choice, flag, integer, nullable, object, optional, text, timestamp } from '../schema.ts';
import { conditions, objectReference, secretReference, taint } from '../shared-fields.ts';
import { METAL3_GROUP } from './data-image.ts';
import { hardware, raid, rootDeviceHints } from './host-hardware.ts';

const WHOLE_MAC_ADDRESS = '^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$';

const bootMode = (description: string) => choice(['UEFI', 'UEFISecureBoot', 'legacy'], description);

const customDeploy = (description: string) =>
  object(description, { method: text('Name of the deploy step that does the work.') });

const firmware = (description: string) =>
  object(description, {
    simultaneousMultithreadingEnabled: optional(flag('Whether a core runs several threads at once.')),
    sriovEnabled: optional(flag('Whether devices can be shared out by SR-IOV.')),
    virtualizationEnabled: optional(flag('Whether the processors help with virtual machines.')),
  });

const image = (description: string) =>
  object(description, {
    url: text('Where the image is: an http, https, file or oci address.'),
    checksum: optional(
      text('Checksum of the image, or the address of a file with it. Not needed for live-iso and oci.'),
    ),
    checksumType: optional(choice(['md5', 'sha256', 'sha512', 'auto'], 'How the checksum was made.')),
    format: optional(choice(['raw', 'qcow2', 'vdi', 'vmdk', 'live-iso'], 'Format of the image.')),
    ociAuthSecretName: optional(text('Name of the Secret with the pull credentials for an oci address.')),
  });

const networkInterface = object(undefined, {
  name: optional(text('Name of the interface.', { pattern: '^[a-zA-Z0-9._-]+$' })),
  macAddress: optional(text('MAC address of the interface.', { pattern: WHOLE_MAC_ADDRESS })),
  hostNetworkAttachment: optional(
    object('The HostNetworkAttachment that says how the switch port is set up.', {
      name: optional(text('Name of the object.', { maxLength: 253 })),
      namespace: optional(text('Namespace of the object.', { maxLength: 63 })),
    }),
  ),
  switchPort: optional(
    object('The switch port the interface is plugged into.', {
      switchID: text('MAC address of the switch.', { pattern: WHOLE_MAC_ADDRESS }),
      portID: text('Name of the port.'),
    }),
  ),
});

const spec = object('What the host shall be.', {
  online: flag('Whether the host shall be powered on.'),
  bmc: optional(
    object('How to reach the controller that powers the host.', {
      address: text('Address of the BMC; the scheme names the driver, as in redfish-virtualmedia://…'),
      credentialsName: text('Name of the Secret with username and password of the BMC.'),
      disableCertificateVerification: optional(
        flag('Trust whatever certificate the BMC shows. Anybody between can then read the password.'),
      ),
    }),
  ),
  bootMACAddress: optional(
    text('MAC address of the interface the host boots from.', { pattern: '[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}' }),
  ),
  bootMode: optional(bootMode('How the firmware boots. Default UEFI.')),
  architecture: optional(text('Processor architecture, such as x86_64 or aarch64. Left out, inspection finds it.')),
  description: optional(text('Whatever helps people to know the host.')),
  externallyProvisioned: optional(
    flag('Something else has installed the host and manages its OS; only its power and its drives are managed.'),
  ),
  automatedCleaningMode: optional(
    choice(['metadata', 'disabled'], 'Whether disks are wiped before and after use: metadata only, or not at all.', {
      default: 'metadata',
    }),
  ),
  inspectionMode: optional(choice(['disabled', 'agent', 'fast'], 'How the hardware is inspected.')),
  disablePowerOff: optional(flag('Never leave the host powered off; reboot instead.')),
  image: optional(image('The image to install.')),
  customDeploy: optional(customDeploy('A way of installing other than writing an image.')),
  userData: optional(secretReference('The Secret with the first-boot configuration.')),
  metaData: optional(secretReference('The Secret with the instance metadata.')),
  networkData: optional(secretReference('The Secret with the network configuration.')),
  preprovisioningNetworkDataName: optional(
    text('Name of the Secret with the network configuration for inspection and installation.'),
  ),
  networkInterfaces: optional(atomicList('How the network interfaces are attached to switches.', networkInterface)),
  raid: optional(raid('The RAID volumes to set up before installation.')),
  rootDeviceHints: optional(rootDeviceHints('What the disk for the OS must be like.')),
  firmware: optional(firmware('Firmware settings. Superseded by HostFirmwareSettings.')),
  hardwareProfile: optional(text('Name of a hardware profile. Superseded by rootDeviceHints.')),
  taints: optional(atomicList('Taints for the node that the host becomes.', taint)),
  consumerRef: optional(objectReference('The object that uses the host. A host with one is not free.')),
});

const credentials = (description: string) =>
  object(description, {
    credentials: optional(secretReference('The Secret.')),
    credentialsVersion: optional(text('The resourceVersion of the Secret.')),
  });

const period = (description: string) =>
  object(description, {
    start: optional(nullable(timestamp('When it began.'))),
    end: optional(nullable(timestamp('When it ended.'))),
  });

const provisioning = object('How far the host is with its installation.', {
  ID: text('UUID of the host in Ironic.'),
  state: text('What the host is doing: registering, available, provisioned, externally provisioned and so on.'),
  bootMode: optional(bootMode('How the firmware boots.')),
  image: optional(image('The image that was installed.')),
  customDeploy: optional(customDeploy('The way of installing that was used.')),
  raid: optional(raid('The RAID volumes that were set up.')),
  rootDeviceHints: optional(rootDeviceHints('What the disk for the OS was chosen by.')),
  firmware: optional(firmware('The firmware settings that were made.')),
});

const status = object('What the host is.', {
  operationalStatus: choice(
    ['', 'OK', 'discovered', 'error', 'delayed', 'detached', 'servicing'],
    'Whether all is well with the host.',
  ),
  poweredOn: flag('Whether the host is powered on.'),
  provisioning,
  errorType: optional(
    choice(
      [
        'provisioned registration error',
        'registration error',
        'inspection error',
        'preparation error',
        'provisioning error',
        'power management error',
        'servicing error',
      ],
      'What failed last.',
    ),
  ),
  errorMessage: text('Why it failed. Empty if nothing did.'),
  errorCount: integer('How many times in a row it has failed.', { default: 0 }),
  provisioningFailCount: integer('How many times in a row installation has failed.', { default: 0 }),
  conditions: optional(conditions('Findings about the host.', { maxItems: 32 })),
  lastUpdated: optional(timestamp('When the status last changed.')),
  hardware: optional(hardware),
  hardwareProfile: optional(text('Name of the hardware profile in use. No longer set.')),
  goodCredentials: optional(credentials('The BMC credentials that last worked.')),
  triedCredentials: optional(credentials('The BMC credentials that were last tried.')),
  lastAttemptedImage: optional(image('The image whose installation was last begun.')),
  operationHistory: optional(
    object('When each step last ran.', {
      register: optional(period('Registration with Ironic.')),
      inspect: optional(period('Inspection of the hardware.')),
      provision: optional(period('Installation.')),
      deprovision: optional(period('Removal of the installation.')),
    }),
  ),
});

const schema = object(
  'A physical machine: how to reach its BMC, whether it is powered on and what is installed on it.',
  {
    spec: optional(spec),
    status: optional(status),
  },
);

export type BareMetalHost = ObjectOf<typeof schema>;

export const bareMetalHostKind: Kind<BareMetalHost> = {
  group: METAL3_GROUP,
  kind: 'BareMetalHost',
  plural: 'baremetalhosts',
  shortNames: ['bmh', 'bmhost'],
  namespaced: true,
  install: 'compat',
  versions: [
    {
      name: 'v1alpha1',
      schema,
      columns: [
        { name: 'Status', type: 'string', jsonPath: '.status.operationalStatus', priority: 1 },
        { name: 'State', type: 'string', jsonPath: '.status.provisioning.state' },
        { name: 'Consumer', type: 'string', jsonPath: '.spec.consumerRef.name' },
        { name: 'BMC', type: 'string', jsonPath: '.spec.bmc.address', priority: 1 },
        { name: 'Online', type: 'string', jsonPath: '.spec.online' },
        { name: 'Error', type: 'string', jsonPath: '.status.errorType' },
        ageColumn,
      ],
      status: true,
    },
  ],
};

export const bareMetalHosts = toResource(bareMetalHostKind, 'v1alpha1');
