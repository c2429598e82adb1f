import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bmcDrivers } from '@slipway/api';
import { readAddress } from './bmc.ts';

const SYSTEM = '/redfish/v1/Systems/1';

describe('bmc.address', () => {
  it.each([
    [`redfish://bmc.example${SYSTEM}`, 'redfish', 'https://bmc.example', SYSTEM],
    [`redfish+http://bmc.example:8000${SYSTEM}`, 'redfish', 'http://bmc.example:8000', SYSTEM],
    [`redfish+https://bmc.example:8443${SYSTEM}`, 'redfish', 'https://bmc.example:8443', SYSTEM],
    [`redfish-virtualmedia://192.0.2.7${SYSTEM}`, 'redfish', 'https://192.0.2.7', SYSTEM],
    [`redfish-virtualmedia+http://192.0.2.7:8000${SYSTEM}`, 'redfish', 'http://192.0.2.7:8000', SYSTEM],
    [`Redfish-VirtualMedia+HTTPS://192.0.2.7${SYSTEM}`, 'redfish', 'https://192.0.2.7', SYSTEM],
    [`redfish://[2001:db8::1]:8443${SYSTEM}`, 'redfish', 'https://[2001:db8::1]:8443', SYSTEM],
    [`redfish:192.0.2.7${SYSTEM}`, 'redfish', 'https://192.0.2.7', SYSTEM],
    [`redfish-uefihttp://bmc.example${SYSTEM}`, 'redfish', 'https://bmc.example', SYSTEM],
    [`ilo5-redfish://bmc.example${SYSTEM}`, 'redfish', 'https://bmc.example', SYSTEM],
    [`ilo5-virtualmedia+http://bmc.example${SYSTEM}`, 'redfish', 'http://bmc.example', SYSTEM],
    [`idrac-redfish://bmc.example${SYSTEM}`, 'idrac', 'https://bmc.example', SYSTEM],
    [`idrac-virtualmedia+https://bmc.example${SYSTEM}`, 'idrac', 'https://bmc.example', SYSTEM],
    ['redfish://bmc.example', 'redfish', 'https://bmc.example', null],
    ['redfish:192.0.2.7', 'redfish', 'https://192.0.2.7', null],
    ['redfish://bmc.example/', 'redfish', 'https://bmc.example', null],
    ['redfish://bmc.example/redfish/v1/', 'redfish', 'https://bmc.example', null],
  ])('%s is for the driver %s at %s, system %s', (address, ironicDriver, origin, systemId) => {
    expect(readAddress(address)).toEqual({ ok: true, ironicDriver, nonBootableISOImage: true, origin, systemId });
  });

  it.each([
    ['', 'SLW_BMC_ADDRESS', /expected 1 to 2048 characters, found 0/],
    [`redfish://${'a'.repeat(3000)}`, 'SLW_BMC_ADDRESS', /expected 1 to 2048/],
    ['192.0.2.7', 'SLW_BMC_DRIVER', /"ipmi" does not support Redfish/],
    ['bmc.example:623', 'SLW_BMC_DRIVER', /"ipmi" does not support Redfish/],
    ['ipmi://192.0.2.7', 'SLW_BMC_DRIVER', /cannot attach an ISO; expected one of redfish, redfish-virtualmedia/],
    ['libvirt://192.0.2.7:6233/', 'SLW_BMC_DRIVER', /"libvirt" does not support Redfish/],
    ['irmc://192.0.2.7', 'SLW_BMC_DRIVER', /"irmc" does not support Redfish/],
    ['carrier-pigeon://loft', 'SLW_BMC_DRIVER', /"carrier-pigeon" is not a driver that Slipway supports/],
    ['redfish+ftp://bmc.example', 'SLW_BMC_DRIVER', /expected one of/],
    ['redfish+ftp://root:hunter2@bmc.example', 'SLW_BMC_DRIVER', /"redfish\+ftp" is not a driver/],
    ['redfish://', 'SLW_BMC_ADDRESS', /expected redfish:\/\/HOST/],
    ['redfish://root:hunter2@bmc.example:port', 'SLW_BMC_ADDRESS', /found an invalid URL/],
    ['redfish://bmc example/', 'SLW_BMC_ADDRESS', /expected redfish:\/\/HOST/],
    ['redfish://bmc.example:99999/', 'SLW_BMC_ADDRESS', /found an invalid URL/],
    ['redfish://root:calvin@bmc.example/', 'SLW_BMC_ADDRESS', /no user name or password/],
  ])('%s is refused with %s, and why', (address, code, message) => {
    const read = readAddress(address);
    expect(read).toMatchObject({ ok: false, code });
    expect('message' in read ? read.message : '').toMatch(message);
    expect(JSON.stringify(read)).not.toContain('hunter2');
  });

  it('never reveals a password in it', () => {
    expect(JSON.stringify(readAddress('redfish://root:calvin@bmc.example/'))).not.toContain('calvin');
  });

  it('whatever it is, is read or refused', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(typeof readAddress(text).ok).toBe('boolean');
      }),
    );
    fc.assert(
      fc.property(fc.webUrl(), (url) => {
        expect(readAddress(`redfish+${url}`).ok).toBe(true);
      }),
    );
  });
});

describe('the table of drivers', () => {
  it.each([...bmcDrivers])(
    'reports for %s that an ISO can be attached only if Ironic has a driver for it',
    (_, driver) => {
      expect(driver.nonBootableISOImage).toBe(driver.ironicDriver !== null);
    },
  );
});
