import { ageColumn, type Kind, type ObjectOf, toResource } from '../kind.ts';
import { atomicList, choice, flag, integer, nullable, object, optional, text, timestamp } from '../schema.ts';
import { conditions, objectReference, secretReference, taint } from '../shared-fields.ts';
import { METAL3_GROUP } from './data-image.ts';
import { hardware, raid, rootDeviceHints } from './host-hardware.ts';

const WHOLE_MAC_ADDRESS = '^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$';
const MAC_ADDRESS = 'be a MAC address such as 52:54:00:12:34:56';

const bootMode = (description: string) => choice(['UEFI', 'UEFISecureBoot', 'legacy'], description);

const customDeploy = (description: string) => object(description, { method: text('Name of the Ironic deploy step.') });

const firmware = (description: string) =>
  object(description, {
    simultaneousMultithreadingEnabled: optional(flag('Whether simultaneous multithreading is enabled.')),
    sriovEnabled: optional(flag('Whether SR-IOV is enabled.')),
    virtualizationEnabled: optional(flag('Whether hardware virtualization is enabled.')),
  });

const image = (description: string) =>
  object(description, {
    url: text('URL of the image: http, https, file or oci.'),
    checksum: optional(
      text('Checksum of the image, or the URL of a file that contains it. Not required for live-iso and oci.'),
    ),
    checksumType: optional(choice(['md5', 'sha256', 'sha512', 'auto'], 'Algorithm of the checksum.')),
    format: optional(choice(['raw', 'qcow2', 'vdi', 'vmdk', 'live-iso'], 'Format of the image.')),
    ociAuthSecretName: optional(text('Name of the Secret with the pull credentials for an oci URL.')),
  });

const networkInterface = object(undefined, {
  name: optional(
    text('Name of the interface.', {
      pattern: '^[a-zA-Z0-9._-]+$',
      expected: 'consist of letters, digits, ".", "_" and "-"',
    }),
  ),
  macAddress: optional(text('MAC address of the interface.', { pattern: WHOLE_MAC_ADDRESS, expected: MAC_ADDRESS })),
  hostNetworkAttachment: optional(
    object('HostNetworkAttachment that defines the configuration of the switch port.', {
      name: optional(text('Name of the object.', { maxLength: 253 })),
      namespace: optional(text('Namespace of the object.', { maxLength: 63 })),
    }),
  ),
  switchPort: optional(
    object('Switch port that the interface is connected to.', {
      switchID: text('MAC address of the switch.', { pattern: WHOLE_MAC_ADDRESS, expected: MAC_ADDRESS }),
      portID: text('Name of the port.'),
    }),
  ),
});

const spec = object('Desired state of the host.', {
  online: flag('Whether the host should be powered on.'),
  bmc: optional(
    object('Connection to the BMC of the host.', {
      address: text('Address of the BMC. The scheme selects the driver, as in redfish-virtualmedia://…'),
      credentialsName: text('Name of the Secret with the username and password for the BMC.'),
      disableCertificateVerification: optional(
        flag('Accepts any certificate of the BMC. An attacker on the network can then read the password.'),
      ),
    }),
  ),
  bootMACAddress: optional(
    text('MAC address of the interface that the host boots from.', {
      pattern: '[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}',
      expected: MAC_ADDRESS,
    }),
  ),
  bootMode: optional(bootMode('How the firmware boots. Default UEFI.')),
  architecture: optional(text('Processor architecture, such as x86_64 or aarch64. If omitted, inspection detects it.')),
  description: optional(text('Human-readable description of the host.')),
  externallyProvisioned: optional(
    flag(
      'The host is installed and its OS is managed outside of Metal3. Only its power and its virtual drives are managed.',
    ),
  ),
  automatedCleaningMode: optional(
    choice(
      ['metadata', 'disabled'],
      'Whether disks are cleaned before and after use. metadata: only the disk metadata. disabled: not at all.',
      {
        default: 'metadata',
      },
    ),
  ),
  inspectionMode: optional(choice(['disabled', 'agent', 'fast'], 'How the hardware is inspected.')),
  disablePowerOff: optional(flag('Never powers the host off. It is rebooted instead.')),
  image: optional(image('Image to install.')),
  customDeploy: optional(customDeploy('Custom deploy method, instead of writing an image.')),
  userData: optional(secretReference('Secret with the first-boot configuration.')),
  metaData: optional(secretReference('Secret with the instance metadata.')),
  networkData: optional(secretReference('Secret with the network configuration.')),
  preprovisioningNetworkDataName: optional(
    text('Name of the Secret with the network configuration for inspection and installation.'),
  ),
  networkInterfaces: optional(atomicList('Connections of the network interfaces to switches.', networkInterface)),
  raid: optional(raid('RAID volumes to create before installation.')),
  rootDeviceHints: optional(rootDeviceHints('Criteria for the disk that the OS is installed on.')),
  firmware: optional(firmware('Firmware settings. Deprecated: use HostFirmwareSettings.')),
  hardwareProfile: optional(text('Name of a hardware profile. Deprecated: use rootDeviceHints.')),
  taints: optional(atomicList('Taints for the Node of the host.', taint)),
  consumerRef: optional(
    objectReference('Object that uses the host. A host with a consumer is not available to others.'),
  ),
});

const credentials = (description: string) =>
  object(description, {
    credentials: optional(secretReference('The Secret.')),
    credentialsVersion: optional(text('The resourceVersion of the Secret.')),
  });

const period = (description: string) =>
  object(description, {
    start: optional(nullable(timestamp('When it started.'))),
    end: optional(nullable(timestamp('When it ended.'))),
  });

const provisioning = object('State of the installation.', {
  ID: text('UUID of the host in Ironic.'),
  state: text('Provisioning state: registering, available, provisioned, externally provisioned and so on.'),
  bootMode: optional(bootMode('How the firmware boots.')),
  image: optional(image('Image that was installed.')),
  customDeploy: optional(customDeploy('Custom deploy method that was used.')),
  raid: optional(raid('RAID volumes that were created.')),
  rootDeviceHints: optional(rootDeviceHints('Criteria that selected the disk for the OS.')),
  firmware: optional(firmware('Firmware settings that were applied.')),
});

const status = object('Observed state of the host.', {
  operationalStatus: choice(
    ['', 'OK', 'discovered', 'error', 'delayed', 'detached', 'servicing'],
    'Operational status of the host.',
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
      'Type of the last failure.',
    ),
  ),
  errorMessage: text('Human-readable explanation of the last failure. Empty if there is none.'),
  errorCount: integer('Number of consecutive failures.', { default: 0 }),
  provisioningFailCount: integer('Number of consecutive installation failures.', { default: 0 }),
  conditions: optional(conditions('Conditions of the host.', { maxItems: 32 })),
  lastUpdated: optional(timestamp('When the status last changed.')),
  hardware: optional(hardware),
  hardwareProfile: optional(text('Name of the hardware profile in use. No longer set.')),
  goodCredentials: optional(credentials('BMC credentials that last worked.')),
  triedCredentials: optional(credentials('BMC credentials that were last tried.')),
  lastAttemptedImage: optional(image('Image whose installation was last started.')),
  operationHistory: optional(
    object('Last run of each operation.', {
      register: optional(period('Registration with Ironic.')),
      inspect: optional(period('Inspection of the hardware.')),
      provision: optional(period('Installation.')),
      deprovision: optional(period('Removal of the installation.')),
    }),
  ),
});

const schema = object('A physical machine: its BMC, its power state and its installation.', {
  spec: optional(spec),
  status: optional(status),
});

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
