// The BMC drivers, by the scheme of bmc.address.

export interface BmcDriver {
  /** The hardware type in Ironic. Null: Slipway does not register hosts with this driver. */
  readonly ironicDriver: 'redfish' | 'idrac' | null;
  /** Whether the management interface of Ironic can attach a non-bootable ISO, independently of the boot device. */
  readonly nonBootableISOImage: boolean;
}

const redfish: BmcDriver = { ironicDriver: 'redfish', nonBootableISOImage: true };
const idrac: BmcDriver = { ironicDriver: 'idrac', nonBootableISOImage: true };
const noRedfish: BmcDriver = { ironicDriver: null, nonBootableISOImage: false };

export const bmcDrivers: ReadonlyMap<string, BmcDriver> = new Map([
  ['redfish', redfish],
  ['redfish-virtualmedia', redfish],
  ['redfish-uefihttp', redfish],
  ['ilo5-redfish', redfish],
  ['ilo5-virtualmedia', redfish],
  ['idrac-redfish', idrac],
  ['idrac-virtualmedia', idrac],
  // Metal3 supports these. Listing them lets messages name what is missing instead of calling the driver unknown.
  ['ipmi', noRedfish],
  ['libvirt', noRedfish],
  ['idrac', noRedfish],
  ['ilo4', noRedfish],
  ['ilo4-virtualmedia', noRedfish],
  ['ilo5', noRedfish],
  ['irmc', noRedfish],
  ['ibmc', noRedfish],
]);
