import { atomicList, choice, flag, integer, nullable, object, optional, text } from '../schema.ts';

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
