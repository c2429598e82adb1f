import { describe, expect, it } from 'vitest';
import {
  parseHostAddress,
  isAddressAllowed,
  isAddressRange,
  whyAddressRefused,
  whyHostRefused,
  whyRedirectRefused,
} from './address.ts';

describe('an address', () => {
  it.each([
    '93.184.216.34',
    '10.0.0.1',
    '172.16.3.4',
    '192.168.1.1',
    '100.64.0.1',
    '169.253.255.255',
    '169.255.0.0',
    '128.0.0.0',
    '2606:2800:220:1::1',
    'fd12:3456::1',
    '::ffff:93.184.216.34',
    '64:ff9b::5db8:d822',
    '64:ff9b:1:a00:0:100::', // 10.0.0.1 after a 48-bit prefix
    '2002:5db8:d822::1',
    '1:2:3:4:5:6:7::',
  ])('contents may be fetched from %s', (ip) => {
    expect(isAddressAllowed(ip, {})).toBe(true);
  });

  it.each([
    ['127.0.0.1', /loopback/],
    ['127.255.255.255', /loopback/],
    ['0.0.0.0', /this host/],
    ['169.254.169.254', /metadata/],
    ['169.254.0.1', /link-local/],
    ['100.100.100.200', /metadata/],
    ['168.63.129.16', /platform service/],
    ['192.0.0.192', /metadata/],
    ['224.0.0.1', /multicast/],
    ['255.255.255.255', /broadcast/],
    ['::', /this host/],
    ['::1', /loopback/],
    ['0:0:0:0:0:0:0:1', /loopback/],
    ['fe80::1', /link-local/],
    ['fe80::1%eth0', /link-local/],
    ['febf:ffff::1', /link-local/],
    ['fec0::1', /site-local/],
    ['ff02::1', /multicast/],
    ['fd00:ec2::254', /metadata/],
    ['fd20:ce::254', /metadata/],
    ['::ffff:127.0.0.1', /leads to 127\.0\.0\.1/],
    ['::ffff:7f00:1', /leads to 127\.0\.0\.1/],
    ['::FFFF:A9FE:A9FE', /leads to 169\.254\.169\.254/],
    ['::127.0.0.1', /leads to 127\.0\.0\.1/],
    ['::ffff:0:169.254.169.254', /leads to 169\.254\.169\.254/],
    ['64:ff9b::169.254.169.254', /leads to 169\.254\.169\.254/],
    ['64:ff9b::7f00:1', /leads to 127\.0\.0\.1/],
    ['64:ff9b:1::a9fe:a9fe', /leads to 169\.254\.169\.254/],
    ['64:ff9b:1:a9fe:a9:fe00::', /leads to 169\.254\.169\.254/], // after a 48-bit prefix
    ['64:ff9b:1:a9:fe:a9fe::', /leads to 169\.254\.169\.254/], // after a 56-bit prefix
    ['64:ff9b:1:0:a9:fea9:fe00:0', /leads to/], // after a 64-bit prefix
    ['2002:7f00:1::', /leads to 127\.0\.0\.1/],
    ['2002:a9fe:a9fe::1', /leads to 169\.254\.169\.254/],
    ['2001:0:a9fe:a9fe::', /leads to 169\.254\.169\.254/],
    ['2001:0:5db8:d822:0:0:5601:5601', /leads to 169\.254\.169\.254/], // Teredo client, inverted
    ['2001:db8::5efe:127.0.0.1', /leads to 127\.0\.0\.1/],
    ['2001:db8::200:5efe:169.254.169.254', /leads to 169\.254\.169\.254/],
    ['localhost', /not an IP address/],
    ['127.1', /not an IP address/],
    ['1.2.3.256', /not an IP address/],
    ['1::2::3', /not an IP address/],
    ['1:2:3:4:5:6:7:8:9', /not an IP address/],
    ['', /not an IP address/],
  ])('%s is judged by its destination', (ip, refusal) => {
    expect(whyAddressRefused(ip, {})).toMatch(refusal);
  });

  it.each([
    ['127.0.0.1', ['127.0.0.0/8'], true],
    ['::ffff:127.0.0.1', ['127.0.0.1'], true],
    ['127.0.0.1', ['127.0.0.2'], false],
    ['169.254.169.254', ['127.0.0.0/8'], false],
    ['::1', ['::1'], true],
    ['fe80::5', ['fe80::/64'], true],
    ['fe80:1::5', ['fe80::/64'], false],
    ['127.0.0.1', ['not a range', '127.0.0.0/99'], false],
  ])('%s with %j allowed by name: %s', (ip, allowAddresses, expected) => {
    expect(isAddressAllowed(ip, { allowAddresses })).toBe(expected);
  });
});

describe('a host', () => {
  it.each([
    ['http://127.0.0.1/', '127.0.0.1'],
    ['http://2130706433/', '127.0.0.1'],
    ['http://0x7f000001/', '127.0.0.1'],
    ['http://0x7f.1/', '127.0.0.1'],
    ['http://017700000001/', '127.0.0.1'],
    ['http://0251.0376.0251.0376/', '169.254.169.254'],
    ['http://[::ffff:127.0.0.1]/', '::ffff:7f00:1'],
    ['http://①②⑦.⓪.⓪.①/', '127.0.0.1'],
    ['http://127.0.0.1./', '127.0.0.1'],
    ['http://localhost/', null],
    ['http://example.com/', null],
  ])('in %s is the address %s', (url, address) => {
    const { hostname } = new URL(url);
    expect(parseHostAddress(hostname)).toBe(address);
    expect(whyHostRefused(hostname, {}) === null).toBe(address === null);
  });

  it.each([
    ['files.example.com', ['files.example.com'], true],
    ['FILES.example.com', ['files.example.com'], true],
    ['files.example.com.', ['files.example.com'], true],
    ['a.files.example.com', ['files.example.com'], false],
    ['a.example.com', ['*.example.com'], true],
    ['a.b.example.com', ['*.example.com'], true],
    ['example.com', ['*.example.com'], false],
    ['evilexample.com', ['*.example.com'], false],
    ['files.example.com', [], false],
    ['10.0.0.1', ['10.0.0.1'], true],
    ['[2001:db8::1]', ['2001:db8::1'], true],
    ['127.0.0.1', ['127.0.0.1'], false], // the list of hosts narrows, it does not lift a refused address
  ])('%s with only %j allowed: %s', (host, allowHosts, expected) => {
    expect(whyHostRefused(host, { allowHosts }) === null).toBe(expected);
  });
});

describe('a range to allow', () => {
  it.each([
    ['10.0.0.0/8', true],
    ['10.0.0.1', true],
    ['::1/128', true],
    ['10.0.0.0/33', false],
    ['10.0.0.0/', false],
    ['10.0.0.0/8/8', false],
    ['example.com', false],
  ])('%s: %s', (text, expected) => {
    expect(isAddressRange(text)).toBe(expected);
  });
});

describe('an address of a private network', () => {
  it.each([
    '10.0.0.1',
    '172.16.3.4',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    'fd12:3456::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
  ])('is refused where private networks are: %s', (ip) => {
    expect(whyAddressRefused(ip, {})).toBe(null);
    expect(whyAddressRefused(ip, { refusePrivate: true })).toMatch(/private network/);
    expect(whyAddressRefused(ip, { refusePrivate: true, allowAddresses: [ip] })).toBe(null);
  });

  it.each(['93.184.216.34', '172.32.0.1', '11.0.0.1', '2606:2800:220:1::1', '64:ff9b::5db8:d822'])(
    'is not %s',
    (ip) => {
      expect(whyAddressRefused(ip, { refusePrivate: true })).toBe(null);
    },
  );

  it('keeps the more exact reason of a metadata address', () => {
    expect(whyAddressRefused('fd00:ec2::254', { refusePrivate: true })).toMatch(/metadata/);
  });
});

describe('a redirect from a host', () => {
  const PUBLIC = '93.184.216.34';
  it.each([
    ['a public one', [PUBLIC], { public: true, private: false, loopback: false, metadata: false }],
    ['a private one', ['10.1.2.3'], { public: true, private: true, loopback: false, metadata: false }],
    ['a private one of IPv6', ['fd12::3'], { public: true, private: true, loopback: false, metadata: false }],
    ['one with both kinds', [PUBLIC, '10.1.2.3'], { public: true, private: true, loopback: false, metadata: false }],
    ['this machine', ['127.0.0.1', '::1'], { public: true, private: true, loopback: true, metadata: false }],
    ['one without addresses', [], { public: true, private: false, loopback: false, metadata: false }],
  ])('%s may lead to some addresses', (_, from, expected) => {
    const may = (to: string): boolean => whyRedirectRefused(from, to) === null;
    expect({
      public: may('198.51.100.7'),
      private: may('192.168.7.7') && may('fd12::7'),
      loopback: may('127.0.0.1') && may('::1'),
      metadata: may('169.254.169.254') || may('fe80::1') || may('fd00:ec2::254') || may('::ffff:169.254.169.254'),
    }).toEqual(expected);
  });
});
