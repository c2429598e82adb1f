// Hardware of a host: inspection results, root device hints and RAID volumes.
import {
  atomicList,
  choice,
  decimal,
  flag,
  int32,
  int64,
  integer,
  nullable,
  object,
  optional,
  text,
} from '../schema.ts';

const vlanId = (description: string) => int32(description, { minimum: 0, maximum: 4094 });

const cpu = object('The processors.', {
  arch: optional(text('Architecture, such as x86_64.')),
  model: optional(text('Name of the model.')),
  clockMegahertz: optional(decimal('Clock speed in MHz.')),
  count: optional(integer('Number of processors, including threads.')),
  flags: optional(atomicList('Features of the processors.', text())),
});

const nic = object(undefined, {
  name: optional(text('Linux name of the interface, such as eno1.')),
  model: optional(text('Vendor and product of the network card.')),
  mac: optional(
    text('MAC address.', {
      pattern: '[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}',
      expected: 'be a MAC address such as 52:54:00:12:34:56',
    }),
  ),
  ip: optional(text('IP address. An interface with both IP families has two entries.')),
  speedGbps: optional(integer('Speed in Gbit/s.')),
  pxe: optional(flag('Whether the host can boot from the network through this interface.')),
  pciAddress: optional(text('PCI address of the network card.')),
  vlanId: optional(vlanId('Untagged VLAN.')),
  vlans: optional(
    atomicList(
      'VLANs that were observed on the interface.',
      object(undefined, { id: optional(vlanId('ID of the VLAN.')), name: optional(text('Name of the VLAN.')) }),
    ),
  ),
  lldp: optional(
    object('The connected switch, as it reports itself over LLDP.', {
      switchID: optional(text('Chassis ID of the switch.')),
      portID: optional(text('Port of the switch.')),
      switchSystemName: optional(text('Name of the switch.')),
    }),
  ),
});

const disk = object(undefined, {
  name: optional(text('Linux name of the disk, preferably a link below /dev/disk/by-path.')),
  alternateNames: optional(atomicList('Other names of the same disk.', text())),
  type: optional(choice(['HDD', 'SSD', 'NVME'], 'Type of the disk.')),
  rotational: optional(flag('Whether the disk is rotational. Deprecated: use type.')),
  sizeBytes: optional(int64('Size in bytes.')),
  vendor: optional(text('Name of the vendor.')),
  model: optional(text('Name of the model.')),
  serialNumber: optional(text('Serial number.')),
  wwn: optional(text('World wide name.')),
  wwnVendorExtension: optional(text('Vendor extension of the world wide name.')),
  wwnWithExtension: optional(text('World wide name with the vendor extension.')),
  hctl: optional(text('SCSI address.')),
});

export const hardware = object('Hardware of the host, as detected by inspection.', {
  hostname: optional(text('Host name that the host reported during inspection.')),
  cpu: optional(cpu),
  ramMebibytes: optional(integer('Memory in MiB.')),
  nics: optional(atomicList('The network interfaces.', nic)),
  storage: optional(atomicList('The disks.', disk)),
  firmware: optional(
    object('The firmware.', {
      bios: optional(
        object('The BIOS.', {
          vendor: optional(text('Name of the vendor.')),
          version: optional(text('Version.')),
          date: optional(text('Release date.')),
        }),
      ),
    }),
  ),
  systemVendor: optional(
    object('Vendor of the host.', {
      manufacturer: optional(text('Name of the manufacturer.')),
      productName: optional(text('Name of the product.')),
      serialNumber: optional(text('Serial number of the host.')),
    }),
  ),
});

/** A disk must match all hints that are set. */
const deviceHintFields = {
  deviceName: optional(text('Linux name of the device, such as /dev/vda or a link below /dev/disk.')),
  hctl: optional(text('SCSI address of the device, such as 0:0:0:0.')),
  model: optional(text('Substring of the model name.')),
  vendor: optional(text('Substring of the vendor name.')),
  serialNumber: optional(text('Serial number of the device.')),
  minSizeGigabytes: optional(integer('Minimum size of the device in gigabytes.', { minimum: 0 })),
  wwn: optional(text('World wide name of the device.')),
  wwnWithExtension: optional(text('World wide name with the vendor extension.')),
  wwnVendorExtension: optional(text('Vendor extension of the world wide name.')),
  rotational: optional(flag('Whether the device is rotational.')),
};

export const rootDeviceHints = (description: string) => object(description, deviceHintFields);

const volumeSize = optional(
  integer('Size of the volume in gibibytes. If omitted or 0, the volume uses the maximum size.', { minimum: 0 }),
);

const hardwareVolume = object(undefined, {
  name: optional(text('Name of the volume, unique on the host. If omitted, a name is generated.', { maxLength: 64 })),
  level: choice(['0', '1', '2', '5', '6', '1+0', '5+0', '6+0'], 'RAID level of the volume.'),
  sizeGibibytes: volumeSize,
  rotational: optional(
    flag('True: use only rotational disks. False: use only non-rotational disks. If omitted, both are used.'),
  ),
  numberOfPhysicalDisks: optional(integer('Number of disks to use.', { minimum: 1 })),
  controller: optional(text('Name of the RAID controller to use.')),
  physicalDisks: optional(atomicList('Names of the disks to use.', text())),
});

const softwareVolume = object(undefined, {
  level: choice(['0', '1', '1+0'], 'RAID level of the volume.'),
  sizeGibibytes: volumeSize,
  rootVolume: optional(flag('Whether the OS is installed on this volume.', { default: false })),
  physicalDisks: optional(
    atomicList('Disks to use, one entry per disk.', object(undefined, deviceHintFields), { minItems: 2 }),
  ),
});

export const raid = (description: string) =>
  object(description, {
    hardwareRAIDVolumes: optional(
      nullable(
        atomicList(
          'Volumes of the RAID controller. If omitted, existing volumes are kept. An empty list removes them.',
          hardwareVolume,
        ),
      ),
    ),
    softwareRAIDVolumes: optional(
      nullable(
        atomicList(
          'Linux software RAID volumes. At most two, and the first must have level 1. Cannot be combined with hardware RAID volumes.',
          softwareVolume,
          { maxItems: 2 },
        ),
      ),
    ),
  });
