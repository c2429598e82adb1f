// Resolves names and connects only to addresses that were checked, so that a DNS answer cannot change in between.
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';

export interface ResolvedAddress {
  address: string;
  family: number;
}

/** All addresses that a name resolves to. */
export type LookupAll = (hostname: string) => Promise<ResolvedAddress[]>;

export const systemLookup: LookupAll = (hostname) => lookup(hostname, { all: true });

/** The addresses of a URL's `hostname`: of a name, or the address itself. */
export async function resolveHost(hostname: string, lookupAll: LookupAll = systemLookup): Promise<string[]> {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) !== 0) return [bare];
  return (await lookupAll(hostname)).map(({ address }) => address);
}

export interface AddressCheck {
  allows(address: string): boolean;
  /** The failure if a name resolves to no allowed address. */
  refuse(hostname: string, addresses: readonly ResolvedAddress[]): Error;
}

/** Passes only allowed addresses to a connect. Node calls it for names; check literal addresses before. */
export function checkedLookup(check: AddressCheck, lookupAll: LookupAll = systemLookup): LookupFunction {
  async function resolve(hostname: string): Promise<[ResolvedAddress, ...ResolvedAddress[]] | Error> {
    try {
      const found = await lookupAll(hostname);
      const [first, ...rest] = found.filter(({ address }) => check.allows(address));
      return first === undefined ? check.refuse(hostname, found) : [first, ...rest];
    } catch (failure) {
      return failure instanceof Error ? failure : new Error('the DNS lookup failed');
    }
  }
  return (hostname, options, callback) => {
    const answer = async () => {
      const found = await resolve(hostname);
      if (found instanceof Error) callback(found, '');
      else if (options.all === true) callback(null, found);
      else callback(null, found[0].address, found[0].family);
    };
    void answer();
  };
}
