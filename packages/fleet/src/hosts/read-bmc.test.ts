import { describe, expect, it } from 'vitest';
import { readBmc } from './bmc.ts';

const credentials = { username: 'admin', password: 'correct horse', version: 'uid/1' };
const input = (address: string) => ({ address, credentialsName: 'bmc', disableCertificateVerification: false });
const SYSTEM = '/redfish/v1/Systems/1';

describe('a BMC and its Secret', () => {
  it('become what Ironic needs to know', () => {
    expect(readBmc(input(`redfish+http://bmc.example:8000${SYSTEM}`), credentials).driverInfo).toEqual({
      redfish_address: 'http://bmc.example:8000',
      redfish_system_id: SYSTEM,
      redfish_username: 'admin',
      redfish_password: 'correct horse',
    });
  });

  it('without certificate verification, only if the host requests that', () => {
    const open = { ...input('redfish://bmc.example'), disableCertificateVerification: true };
    expect(readBmc(open, credentials).driverInfo).toMatchObject({ redfish_verify_ca: false });
    expect(readBmc(input('redfish://bmc.example'), credentials).driverInfo).not.toHaveProperty('redfish_verify_ca');
  });

  it('cannot be used without the Secret', () => {
    expect(readBmc(input('redfish://bmc.example'), null)).toMatchObject({
      driverInfo: null,
      reading: {
        ok: false,
        code: 'SLW_BMC_CREDENTIALS',
        message: expect.stringContaining('Secret "bmc" does not exist'),
      },
    });
  });

  it.each([
    ['username', { ...credentials, username: '' }],
    ['password', { ...credentials, password: '' }],
    ['password', { ...credentials, password: 'x'.repeat(5000) }],
  ])('nor with an unusable %s, which is not revealed', (field, unusable) => {
    const { reading } = readBmc(input('redfish://bmc.example'), unusable);
    expect(reading).toMatchObject({
      ok: false,
      code: 'SLW_BMC_CREDENTIALS',
      message: expect.stringContaining(`key ${field}:`),
    });
    expect(JSON.stringify(reading)).not.toContain('xxxx');
  });
});

describe('the digest of the sent data', () => {
  const digest = (address: string, changed: Partial<typeof credentials> = {}, open = false) => {
    const { reading } = readBmc(
      { ...input(address), disableCertificateVerification: open },
      { ...credentials, ...changed },
    );
    return reading.ok ? reading.digest : null;
  };
  const first = digest('redfish://bmc.example');

  it('stays while nothing changes', () => {
    expect(digest('redfish://bmc.example')).toBe(first);
    expect(digest('redfish-virtualmedia+https://bmc.example/redfish/v1')).toBe(first);
  });

  it.each([
    ['the address', digest('redfish://other.example')],
    ['the system', digest(`redfish://bmc.example${SYSTEM}`)],
    ['the driver', digest('idrac-redfish://bmc.example')],
    ['the user name', digest('redfish://bmc.example', { username: 'root' })],
    ['the Secret', digest('redfish://bmc.example', { version: 'uid/2' })],
    ['the trust', digest('redfish://bmc.example', {}, true)],
  ])('changes with %s', (_, changed) => {
    expect(changed).not.toBe(first);
  });

  it('does not depend on the password: a reader could guess passwords with it', () => {
    expect(digest('redfish://bmc.example', { password: 'other' })).toBe(first);
  });
});
