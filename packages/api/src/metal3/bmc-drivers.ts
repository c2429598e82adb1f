// The one table of BMC drivers: what stands before the :// of bmc.address.

export interface BmcDriver {
  /** The hardware type in Ironic; null: Slipway registers no host of this kind. */
  readonly ironicDriver: 'redfish' | 'idrac' | null;
  /** Whether Ironic can attach a non-bootable ISO through it: its management interface does, whatever the host boots from. */
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
  // Known to Metal3, so that people are told what is missing instead of that it is unknown.
  ['ipmi', noRedfish],
  ['libvirt', noRedfish],
  ['idrac', noRedfish],
  ['ilo4', noRedfish],
  ['ilo4-virtualmedia', noRedfish],
  ['ilo5', noRedfish],
  ['irmc', noRedfish],
  ['ibmc', noRedfish],
]);
