import { atomicList, setList, text, type Rule } from '../schema.ts';

export const ipAddress = text(undefined, {
  minLength: 1,
  maxLength: 39,
  rules: [{ rule: 'isIP(self)', message: 'must be an IP address' }],
});

const cidr = text(undefined, {
  minLength: 1,
  maxLength: 43,
  rules: [{ rule: 'isCIDR(self)', message: 'must be a network in CIDR notation, such as 192.0.2.0/24' }],
});

export const machineNetworks = atomicList('The networks that machines have addresses in.', cidr, {
  maxItems: 32,
  rules: [
    {
      rule: 'self.all(x, self.exists_one(y, x == y))',
      message: 'no network may be named twice',
      holds: (self) => new Set(self).size === self.length,
    },
  ],
});

const differentFamilies =
  'size(self) != 2 || !isIP(self[0]) || !isIP(self[1]) || ip(self[0]).family() != ip(self[1]).family()';
const onePerFamily = 'at most one IPv4 and one IPv6 address';

const virtualAddressDescriptions = {
  apiServerInternalIPs: 'Addresses by which machines reach the API server: one, or one of each IP family.',
  ingressIPs: 'Addresses of the default ingress router: one, or one of each IP family.',
} as const;

type VirtualAddresses = keyof typeof virtualAddressDescriptions;

export const wantedAddresses = (of: VirtualAddresses) =>
  atomicList(virtualAddressDescriptions[of], ipAddress, {
    maxItems: 2,
    rules: [{ rule: differentFamilies, message: `${of}: ${onePerFamily}` }],
  });

// Old clusters may hold two of one family in status: only a change is judged.
const observed = (of: VirtualAddresses) => {
  const rules: Rule[] = [{ rule: `self == oldSelf || (${differentFamilies})`, message: `${of}: ${onePerFamily}` }];
  return { maxItems: 2, rules };
};

/** As the platforms have it that came first: the list is a whole. */
export const observedAddresses = (of: VirtualAddresses) =>
  atomicList(virtualAddressDescriptions[of], text(), observed(of));

export const observedAddressSet = (of: VirtualAddresses) =>
  setList(virtualAddressDescriptions[of], text(), observed(of));
