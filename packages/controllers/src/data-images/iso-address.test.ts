import { describe, expect, it } from 'vitest';
import { whyIsoRefused } from './iso-address.ts';

const names: Record<string, string[]> = {
  'isos.example.com': ['192.0.2.7'],
  'private.example.com': ['10.0.0.5', 'fd12::5'],
  localhost: ['127.0.0.1', '::1'],
  'rebound.example.com': ['192.0.2.7', '169.254.169.254'],
};
async function lookup(hostname: string) {
  const found = names[hostname];
  if (found === undefined) throw new Error('ENOTFOUND');
  return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

describe('the URL of an ISO', () => {
  it.each([
    'http://10.0.0.5/a.iso',
    'http://192.168.1.1:8080/a.iso',
    'http://[fd12::5]/a.iso',
    'https://isos.example.com/a.iso',
    'https://private.example.com/a.iso',
    'https://known-only-to-ironic.example.com/a.iso?version=2#x',
  ])('may be %s', async (url) => {
    expect(await whyIsoRefused(url, {}, lookup)).toBe(null);
  });

  it.each([
    ['http://127.0.0.1:6385/v1/nodes', /127\.0\.0\.1 of spec\.url is not allowed: it is a loopback address/],
    ['http://[::1]/a.iso', /loopback/],
    ['http://169.254.169.254/latest/meta-data/', /metadata/],
    ['http://2852039166/latest/meta-data/', /metadata/],
    ['http://0x7f.1/a.iso', /loopback/],
    ['http://[::ffff:169.254.169.254]/a.iso', /leads to 169\.254\.169\.254/],
    ['http://localhost/a.iso', /localhost of spec\.url resolves to 127\.0\.0\.1, which is not allowed/],
    ['not a URL', /not an http or https URL/],
    ['file:///etc/passwd', /not an http or https URL/],
    ['http://10.0.0.5\\@169.254.169.254/a.iso', /not an http or https URL/],
    ['http://10.0.0.5@169.254.169.254/a.iso', /not an http or https URL/],
    ['http://[fe80::1%25eth0]/a.iso', /not an http or https URL/],
    ['http://rebound.example.com/a.iso', /resolves to 169\.254\.169\.254/],
  ])('must not be %s', async (url, why) => {
    expect(await whyIsoRefused(url, {}, lookup)).toMatch(why);
  });

  it('may be in a range that is allowed', async () => {
    expect(await whyIsoRefused('http://localhost/a.iso', { allowAddresses: ['127.0.0.0/8', '::1/128'] }, lookup)).toBe(
      null,
    );
  });
});
