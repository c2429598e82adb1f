import { describe, expect, it } from 'vitest';
import { type AddressCheck, checkedLookup, type LookupAll, resolveHost } from './lookup.ts';

const names: LookupAll = (hostname) =>
  hostname === 'two.example.com'
    ? Promise.resolve([
        { address: '10.0.0.1', family: 4 },
        { address: '192.0.2.1', family: 4 },
      ])
    : Promise.reject(new Error(`ENOTFOUND ${hostname}`));

describe('resolveHost', () => {
  it.each([
    ['127.0.0.1', ['127.0.0.1']],
    ['[::1]', ['::1']],
    ['two.example.com', ['10.0.0.1', '192.0.2.1']],
  ])('of %s', async (hostname, addresses) => {
    expect(await resolveHost(hostname, names)).toEqual(addresses);
  });
});

describe('checkedLookup', () => {
  const check = (allowed: readonly string[]): AddressCheck => ({
    allows: (address) => allowed.includes(address),
    refuse: (hostname, addresses) =>
      new Error(`${hostname} is only at ${addresses.map(({ address }) => address).join()}`),
  });
  const connectTo = (hostname: string, allowed: readonly string[]): Promise<unknown> =>
    new Promise((resolve) => {
      checkedLookup(check(allowed), names)(hostname, { all: true }, (error, addresses) =>
        resolve(error === null ? addresses : error.message),
      );
    });

  it('passes on only the allowed addresses of a name', async () => {
    expect(await connectTo('two.example.com', ['192.0.2.1'])).toEqual([{ address: '192.0.2.1', family: 4 }]);
  });

  it('fails if a name has none, or does not resolve', async () => {
    expect(await connectTo('two.example.com', [])).toBe('two.example.com is only at 10.0.0.1,192.0.2.1');
    expect(await connectTo('gone.example.com', ['192.0.2.1'])).toBe('ENOTFOUND gone.example.com');
  });
});
