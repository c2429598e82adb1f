// bmc.address of a BareMetalHost, such as redfish-virtualmedia+https://host:port/redfish/v1/Systems/1.
import type { BmcReading } from '../host-step.ts';
import { type BmcDriver, bmcDrivers } from './drivers.ts';

const LONGEST_ADDRESS = 2048;
const LONGEST_SHOWN = 100;

export type BmcRefusal = Extract<BmcReading, { ok: false }>;

export type BmcAddress =
  | {
      readonly ok: true;
      readonly ironicDriver: string;
      readonly nonBootableISOImage: boolean;
      /** http(s)://host:port */
      readonly origin: string;
      /** Null: the BMC has only one, or Ironic finds it. */
      readonly systemId: string | null;
    }
  | BmcRefusal;

export function readAddress(address: string): BmcAddress {
  if (address === '' || address.length > LONGEST_ADDRESS) {
    return refused(`expected 1 to ${LONGEST_ADDRESS} characters, found ${address.length}`);
  }
  const { type, transport, rest } = partsOf(address);
  const driver = bmcDrivers.get(type);
  if (driver === undefined || driver.ironicDriver === null) return refusedDriver(type, driver);
  const url = URL.parse(`${transport}://${rest}`);
  // Not shown: a password may stand in it, where people err.
  if (url === null) return refused(`expected ${type}://HOST/redfish/v1/Systems/ID, found what is no URL`);
  if (url.username !== '' || url.password !== '') {
    return refused(
      'expected no user name or password in it, for everybody who sees the host sees them: put them into the Secret that spec.bmc.credentialsName names',
    );
  }
  const { ironicDriver, nonBootableISOImage } = driver;
  return { ok: true, ironicDriver, nonBootableISOImage, origin: url.origin, systemId: systemIdOf(url) };
}

function partsOf(address: string): { type: string; transport: string; rest: string } {
  const parts = /^([a-z][a-z0-9-]*)(?:\+(https?))?:(?:\/\/)?(?!\/)(.+)$/i.exec(address);
  const [, type = '', transport = 'https', rest = ''] = parts ?? [];
  // An address alone, or with a port, has always meant IPMI.
  if (/^[^/:+]*(:\d+)?$/.test(address)) return { type: 'ipmi', transport, rest: address };
  // Up to the colon: what follows may have a password in it, where people err.
  const named = parts === null ? (address.split(':')[0] ?? '') : type;
  return { type: named.toLowerCase(), transport: transport.toLowerCase(), rest };
}

function systemIdOf({ pathname }: URL): string | null {
  const trimmed = pathname.replaceAll(/^\/+|\/+$/g, '');
  return trimmed === '' || trimmed === 'redfish/v1' ? null : pathname;
}

function refusedDriver(name: string, known: BmcDriver | undefined): BmcRefusal {
  const usable = [...bmcDrivers].filter(([, { ironicDriver }]) => ironicDriver !== null).map(([each]) => each);
  const why =
    known === undefined ? 'is no driver that Slipway knows' : 'does not speak Redfish, and cannot attach an ISO';
  return {
    ok: false,
    code: 'SLW_BMC_DRIVER',
    message: `spec.bmc.address: ${shown(name)} ${why}; expected one of ${usable.join(', ')}, each also with +http or +https`,
  };
}

const refused = (problem: string): BmcRefusal => ({
  ok: false,
  code: 'SLW_BMC_ADDRESS',
  message: `spec.bmc.address: ${problem}`,
});

export const shown = (text: string): string =>
  JSON.stringify(text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text);
