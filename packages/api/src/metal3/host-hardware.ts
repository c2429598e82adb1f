// What a host is made of: what inspection found, which disk it boots from, its RAID volumes.
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
  count: optional(integer('Number of processors, threads counted.')),
  flags: optional(atomicList('Features the processors have.', text())),
});

const nic = object(undefined, {
  name: optional(text('Linux name of the interface, such as eno1.')),
  model: optional(text('Vendor and product of the card.')),
  mac: optional(text('MAC address.', { pattern: '[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}' })),
  ip: optional(text('IP address. An interface with both families is listed twice.')),
  speedGbps: optional(integer('Speed in Gbit/s.')),
  pxe: optional(flag('Whether the host can boot from the network through it.')),
  pciAddress: optional(text('PCI address of the card.')),
  vlanId: optional(vlanId('The untagged VLAN.')),
  vlans: optional(
    atomicList(
      'The VLANs seen on it.',
      object(undefined, { id: optional(vlanId('Number of the VLAN.')), name: optional(text('Name of the VLAN.')) }),
    ),
  ),
  lldp: optional(
    object('The switch on the other end, as it says itself.', {
      switchID: optional(text('Chassis ID of the switch.')),
      portID: optional(text('Port of the switch.')),
      switchSystemName: optional(text('Name of the switch.')),
    }),
  ),
});

const disk = object(undefined, {
  name: optional(text('Linux name of the disk, best a link below /dev/disk/by-path.')),
  alternateNames: optional(atomicList('Other names of the same disk.', text())),
  type: optional(choice(['HDD', 'SSD', 'NVME'], 'Kind of disk.')),
  rotational: optional(flag('Whether it spins. Superseded by type.')),
  sizeBytes: optional(int64('Size in bytes.')),
  vendor: optional(text('Name of the vendor.')),
  model: optional(text('Name of the model.')),
  serialNumber: optional(text('Serial number.')),
  wwn: optional(text('World wide name.')),
  wwnVendorExtension: optional(text('The extension of the vendor to the world wide name.')),
  wwnWithExtension: optional(text('World wide name with the extension of the vendor.')),
  hctl: optional(text('SCSI address.')),
});

/** What inspection found in the machine. */
export const hardware = object('What inspection found in the host.', {
  hostname: optional(text('Name the host gave itself during inspection.')),
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
          date: optional(text('Date of release.')),
        }),
      ),
    }),
  ),
  systemVendor: optional(
    object('Who made the host.', {
      manufacturer: optional(text('Name of the maker.')),
      productName: optional(text('Name of the product.')),
      serialNumber: optional(text('Serial number of the host.')),
    }),
  ),
});

/** What a disk must be like to be chosen. */
const deviceHintFields = {
  deviceName: optional(text('Linux name of the device, such as /dev/vda or a link below /dev/disk.')),
  hctl: optional(text('SCSI address of the device, such as 0:0:0:0.')),
  model: optional(text('Part of the name of the model.')),
  vendor: optional(text('Part of the name of the vendor.')),
  serialNumber: optional(text('Serial number of the device.')),
  minSizeGigabytes: optional(integer('The least size of the device, in gigabytes.', { minimum: 0 })),
  wwn: optional(text('World wide name of the device.')),
  wwnWithExtension: optional(text('World wide name with the extension of the vendor.')),
  wwnVendorExtension: optional(text('The extension of the vendor to the world wide name.')),
  rotational: optional(flag('Whether the device spins.')),
};

export const rootDeviceHints = (description: string) => object(description, deviceHintFields);

const volumeSize = optional(
  integer('Size of the volume in gibibytes. Left out or 0, as large as it can be.', { minimum: 0 }),
);

const hardwareVolume = object(undefined, {
  name: optional(text('Name of the volume, unique on the host. Left out, one is made up.', { maxLength: 64 })),
  level: choice(['0', '1', '2', '5', '6', '1+0', '5+0', '6+0'], 'RAID level of the volume.'),
  sizeGibibytes: volumeSize,
  rotational: optional(flag('Use only disks that spin, or only disks that do not. Left out, both.')),
  numberOfPhysicalDisks: optional(integer('How many disks to use.', { minimum: 1 })),
  controller: optional(text('Name of the RAID controller to use.')),
  physicalDisks: optional(atomicList('Names of the disks to use.', text())),
});

const softwareVolume = object(undefined, {
  level: choice(['0', '1', '1+0'], 'RAID level of the volume.'),
  sizeGibibytes: volumeSize,
  rootVolume: optional(flag('Whether this is the volume the OS goes to.', { default: false })),
  physicalDisks: optional(
    atomicList('Which disks to use, one hint for each.', object(undefined, deviceHintFields), { minItems: 2 }),
  ),
});

export const raid = (description: string) =>
  object(description, {
    hardwareRAIDVolumes: optional(
      nullable(
        atomicList(
          'Volumes of the RAID controller. Left out, what is there stays; an empty list removes it.',
          hardwareVolume,
        ),
      ),
    ),
    softwareRAIDVolumes: optional(
      nullable(
        atomicList(
          'Volumes of Linux software RAID: at most two, and the first must be of level 1. Not together with hardware volumes.',
          softwareVolume,
          { maxItems: 2 },
        ),
      ),
    ),
  });
