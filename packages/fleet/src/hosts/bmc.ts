// Parses bmc.address of a BareMetalHost, such as redfish-virtualmedia+https://host:port/redfish/v1/Systems/1. The
// admission policy of DataImages uses the same table of drivers.
import { quote } from '@slipway/base/text';
import { type BmcDriver, bmcDrivers } from '@slipway/api';
import { sha256 } from '@slipway/base/hash';
import type { BmcReading } from './host-step.ts';

const MAX_ADDRESS_LENGTH = 2048;
const MAX_SHOWN_LENGTH = 100;

export type BmcRefusal = Extract<BmcReading, { ok: false }>;

export type BmcAddress =
  | {
      readonly ok: true;
      readonly ironicDriver: string;
      readonly nonBootableISOImage: boolean;
      /** http(s)://host:port */
      readonly origin: string;
      /** Null: the BMC has only one, or Ironic discovers it. */
      readonly systemId: string | null;
    }
  | BmcRefusal;

export function readAddress(address: string): BmcAddress {
  if (address === '' || address.length > MAX_ADDRESS_LENGTH) {
    return refused(`expected 1 to ${MAX_ADDRESS_LENGTH} characters, found ${address.length}`);
  }
  const { type, transport, rest } = parseParts(address);
  const driver = bmcDrivers.get(type);
  if (driver === undefined || driver.ironicDriver === null) return refusedDriver(type, driver);
  const url = URL.parse(`${transport}://${rest}`);
  // Not shown: users put passwords into it by mistake.
  if (url === null) return refused(`expected ${type}://HOST/redfish/v1/Systems/ID, found an invalid URL`);
  if (url.username !== '' || url.password !== '') {
    return refused(
      'expected no user name or password, because everyone who can read the host can read them. Move them to the Secret that spec.bmc.credentialsName references',
    );
  }
  const { ironicDriver, nonBootableISOImage } = driver;
  return { ok: true, ironicDriver, nonBootableISOImage, origin: url.origin, systemId: parseSystemId(url) };
}

function parseParts(address: string): { type: string; transport: string; rest: string } {
  const parts = /^([a-z][a-z0-9-]*)(?:\+(https?))?:(?:\/\/)?(?!\/)(.+)$/i.exec(address);
  const [, type = '', transport = 'https', rest = ''] = parts ?? [];
  // A host alone, or with a port, has always meant IPMI.
  if (/^[^/:+]*(:\d+)?$/.test(address)) return { type: 'ipmi', transport, rest: address };
  // Up to the colon: what follows may contain a password by mistake.
  const named = parts === null ? (address.split(':')[0] ?? '') : type;
  return { type: named.toLowerCase(), transport: transport.toLowerCase(), rest };
}

function parseSystemId({ pathname }: URL): string | null {
  const trimmed = pathname.replaceAll(/^\/+|\/+$/g, '');
  return trimmed === '' || trimmed === 'redfish/v1' ? null : pathname;
}

function refusedDriver(name: string, known: BmcDriver | undefined): BmcRefusal {
  const usable = [...bmcDrivers].filter(([, { ironicDriver }]) => ironicDriver !== null).map(([each]) => each);
  const why =
    known === undefined
      ? 'is not a driver that Slipway supports'
      : 'does not support Redfish, so it cannot attach an ISO';
  return {
    ok: false,
    code: 'SLW_BMC_DRIVER',
    message: `spec.bmc.address: ${shown(name)} ${why}; expected one of ${usable.join(', ')}, optionally with +http or +https`,
  };
}

const refused = (problem: string): BmcRefusal => ({
  ok: false,
  code: 'SLW_BMC_ADDRESS',
  message: `spec.bmc.address: ${problem}`,
});

const shown = (text: string): string => quote(text, MAX_SHOWN_LENGTH);

// From spec.bmc of a BareMetalHost and its Secret to what Ironic needs to reach the BMC.

const MAX_CREDENTIAL_LENGTH = 1024;

export interface BmcInput {
  readonly address: string;
  readonly credentialsName: string;
  readonly disableCertificateVerification: boolean;
}

export interface BmcCredentials {
  readonly username: string;
  readonly password: string;
  /** Identifies the content of the Secret: its uid and resourceVersion. */
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

/** Credentials null: the Secret does not exist. */
export function readBmc(input: BmcInput, credentials: BmcCredentials | null): ReadBmc {
  const address = readAddress(input.address);
  if (!address.ok) return { reading: address, driverInfo: null };
  const usable = checkCredentials(input.credentialsName, credentials);
  if (!usable.ok) return { reading: usable, driverInfo: null };
  const { username, password, version } = usable.credentials;
  const driverInfo: DriverInfo = {
    redfish_address: address.origin,
    // Without it Ironic uses the only system of the BMC.
    ...(address.systemId === null ? {} : { redfish_system_id: address.systemId }),
    redfish_username: username,
    redfish_password: password,
    ...(input.disableCertificateVerification ? { redfish_verify_ca: false as const } : {}),
  };
  const { ironicDriver: driver, nonBootableISOImage } = address;
  return {
    reading: { ok: true, driver, digest: computeDigest(driver, driverInfo, version), nonBootableISOImage },
    driverInfo,
  };
}

/** Covers the Secret's version, not the password: readers of Ironic see the digest, and could guess passwords. */
function computeDigest(driver: string, info: DriverInfo, version: string): string {
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
      `Secret ${shown(name)} does not exist in the namespace of the host. Create it with the keys username and password`,
    );
  }
  for (const field of ['username', 'password'] as const) {
    const { length } = credentials[field];
    if (length === 0 || length > MAX_CREDENTIAL_LENGTH) {
      return refusal(
        `Secret ${shown(name)}, key ${field}: expected 1 to ${MAX_CREDENTIAL_LENGTH} characters, found ${length}`,
      );
    }
  }
  return { ok: true, credentials };
}
