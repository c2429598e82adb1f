import { atomicList, choice, decimal, flag, int32, int64, integer, object, optional, text } from '../schema.ts';

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
