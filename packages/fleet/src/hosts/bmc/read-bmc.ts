// spec.bmc of a BareMetalHost and its Secret → how Ironic reaches the BMC.
import { sha256 } from '@slipway/base/hash';
import type { BmcReading } from '../host-step.ts';
import { type BmcRefusal, readAddress, shown } from './bmc-address.ts';

const LONGEST_CREDENTIAL = 1024;

export interface BmcInput {
  readonly address: string;
  readonly credentialsName: string;
  readonly disableCertificateVerification: boolean;
}

export interface BmcCredentials {
  readonly username: string;
  readonly password: string;
  /** Tells one content of the Secret from the next: its uid and resourceVersion. */
  readonly version: string;
}

export interface DriverInfo {
  readonly redfish_address: string;
  readonly redfish_system_id?: string;
  readonly redfish_username: string;
  readonly redfish_password: string;
  readonly redfish_verify_ca?: false;
}

export type ReadBmc = { readonly reading: BmcReading; readonly driverInfo: DriverInfo | null };

/** Credentials null: the Secret is not there. */
export function readBmc(input: BmcInput, credentials: BmcCredentials | null): ReadBmc {
  const address = readAddress(input.address);
  if (!address.ok) return { reading: address, driverInfo: null };
  const usable = checkCredentials(input.credentialsName, credentials);
  if (!usable.ok) return { reading: usable, driverInfo: null };
  const { username, password, version } = usable.credentials;
  const driverInfo: DriverInfo = {
    redfish_address: address.origin,
    // Without it Ironic takes the only system of the BMC.
    ...(address.systemId === null ? {} : { redfish_system_id: address.systemId }),
    redfish_username: username,
    redfish_password: password,
    ...(input.disableCertificateVerification ? { redfish_verify_ca: false as const } : {}),
  };
  const { ironicDriver: driver, nonBootableISOImage } = address;
  return {
    reading: { ok: true, driver, digest: digestOf(driver, driverInfo, version), nonBootableISOImage },
    driverInfo,
  };
}

/** The password is not in it: readers of Ironic see the digest, and could try passwords on it. Its Secret's version is. */
function digestOf(driver: string, info: DriverInfo, version: string): string {
  const { redfish_address, redfish_system_id = null, redfish_username, redfish_verify_ca = true } = info;
  const told = [driver, redfish_address, redfish_system_id, redfish_username, redfish_verify_ca, version];
  return sha256(JSON.stringify(told));
}

function checkCredentials(
  name: string,
  credentials: BmcCredentials | null,
): { readonly ok: true; readonly credentials: BmcCredentials } | BmcRefusal {
  const refusal = (problem: string): BmcRefusal => ({
    ok: false,
    code: 'SLW_BMC_CREDENTIALS',
    message: `spec.bmc.credentialsName: ${problem}`,
  });
  if (credentials === null) {
    return refusal(
      `there is no Secret ${shown(name)} in the namespace of the host; make it, with username and password`,
    );
  }
  for (const field of ['username', 'password'] as const) {
    const { length } = credentials[field];
    if (length === 0 || length > LONGEST_CREDENTIAL) {
      return refusal(
        `Secret ${shown(name)}, key ${field}: expected 1 to ${LONGEST_CREDENTIAL} characters, found ${length}`,
      );
    }
  }
  return { ok: true, credentials };
}
