// Fields that several platforms, or the spec and status of one platform, share.
import { atomicList, choice, listMap, object, optional, type Rule, setList, text } from '../schema.ts';

const platformTypes = [
  '',
  'AWS',
  'Azure',
  'BareMetal',
  'GCP',
  'Libvirt',
  'OpenStack',
  'None',
  'VSphere',
  'oVirt',
  'IBMCloud',
  'KubeVirt',
  'EquinixMetal',
  'PowerVS',
  'AlibabaCloud',
  'Nutanix',
  'External',
] as const;

export type PlatformType = (typeof platformTypes)[number];

export const platformType = (description: string) => choice(platformTypes, description);

const ipAddress = text(undefined, {
  minLength: 1,
  maxLength: 39,
  rules: [{ rule: 'isIP(self)', message: 'must be an IP address' }],
});

const cidr = text(undefined, {
  minLength: 1,
  maxLength: 43,
  rules: [{ rule: 'isCIDR(self)', message: 'must be a network in CIDR notation, such as 192.0.2.0/24' }],
});

export const machineNetworks = atomicList('Networks of the machine addresses.', cidr, {
  maxItems: 32,
  rules: [
    {
      rule: 'self.all(x, self.exists_one(y, x == y))',
      message: 'each network may be listed only once',
      holds: (self) => new Set(self).size === self.length,
    },
  ],
});

const DIFFERENT_FAMILIES =
  'size(self) != 2 || !isIP(self[0]) || !isIP(self[1]) || ip(self[0]).family() != ip(self[1]).family()';
const ONE_PER_FAMILY = 'at most one IPv4 and one IPv6 address';

const virtualAddressDescriptions = {
  apiServerInternalIPs: 'Addresses through which machines reach the API server: one, or one per IP family.',
  ingressIPs: 'Addresses of the default ingress router: one, or one per IP family.',
} as const;

type VirtualAddresses = keyof typeof virtualAddressDescriptions;

export const wantedAddresses = (of: VirtualAddresses) =>
  atomicList(virtualAddressDescriptions[of], ipAddress, {
    maxItems: 2,
    rules: [{ rule: DIFFERENT_FAMILIES, message: `${of}: ${ONE_PER_FAMILY}` }],
  });

// The status of old clusters can contain two addresses of one family, so only changes are validated.
const observed = (of: VirtualAddresses) => {
  const rules: Rule[] = [{ rule: `self == oldSelf || (${DIFFERENT_FAMILIES})`, message: `${of}: ${ONE_PER_FAMILY}` }];
  return { maxItems: 2, rules };
};

/** The older platforms declare this list as atomic, the newer ones as a set. */
export const observedAddresses = (of: VirtualAddresses) =>
  atomicList(virtualAddressDescriptions[of], text(), observed(of));

export const observedAddressSet = (of: VirtualAddresses) =>
  setList(virtualAddressDescriptions[of], text(), observed(of));

export const fixedOnceSet = (field: string): Rule<string> => ({
  rule: "oldSelf == '' || self == oldSelf",
  message: `${field} cannot be changed once it is set`,
});

export const loadBalancer = object(
  'Load balancer for the API server and the ingress router.',
  {
    type: optional(
      choice(
        ['OpenShiftManagedDefault', 'UserManaged'],
        'Whether the platform or the user provides the load balancer.',
        {
          default: 'OpenShiftManagedDefault',
          rules: [fixedOnceSet('type')],
        },
      ),
    ),
  },
  { default: { type: 'OpenShiftManagedDefault' } },
);

const addresses = (description: string) => optional(setList(description, ipAddress, { maxItems: 16 }));

export const cloudLoadBalancerConfig = object(
  'Load balancers whose names the cloud DNS cannot resolve.',
  {
    dnsType: optional(
      choice(
        ['ClusterHosted', 'PlatformDefault'],
        'DNS server that resolves the names: ClusterHosted (in the cluster) or PlatformDefault (that of the cloud).',
        { default: 'PlatformDefault', rules: [fixedOnceSet('dnsType')] },
      ),
    ),
    clusterHosted: optional(
      object('Addresses that the DNS server in the cluster returns.', {
        apiIntLoadBalancerIPs: addresses('Internal addresses of the API server.'),
        apiLoadBalancerIPs: addresses('External addresses of the API server.'),
        ingressLoadBalancerIPs: addresses('Addresses of the ingress router.'),
      }),
    ),
  },
  {
    default: { dnsType: 'PlatformDefault' },
    rules: [
      {
        rule: "!has(self.clusterHosted) || !has(self.dnsType) || self.dnsType == 'ClusterHosted'",
        message: 'clusterHosted requires dnsType ClusterHosted',
        holds: (self) =>
          self.clusterHosted === undefined || self.dnsType === undefined || self.dnsType === 'ClusterHosted',
      },
    ],
  },
);

const SERVICE_ENDPOINTS = 'Endpoints that override the default endpoints of cloud services.';

export const awsServiceEndpoints = optional(
  atomicList(
    SERVICE_ENDPOINTS,
    object(undefined, {
      name: optional(
        text('Name of the service.', {
          pattern: '^[a-z0-9-]+$',
          expected: 'consist of lower-case letters, digits and "-"',
        }),
      ),
      url: optional(text('URL of the service, with https.', { pattern: '^https://', expected: 'start with https://' })),
    }),
  ),
);

const ibmServices = [
  'CIS',
  'COS',
  'COSConfig',
  'DNSServices',
  'GlobalCatalog',
  'GlobalSearch',
  'GlobalTagging',
  'HyperProtect',
  'IAM',
  'KeyProtect',
  'ResourceController',
  'ResourceManager',
  'VPC',
] as const;

export const ibmCloudServiceEndpoints = optional(
  listMap(
    SERVICE_ENDPOINTS,
    object(undefined, {
      name: choice(ibmServices, 'Name of the service.'),
      url: text('URL of the service.', {
        maxLength: 300,
        rules: [{ rule: 'isURL(self)', message: 'must be an absolute URL' }],
      }),
    }),
    ['name'],
  ),
);

export const powerVsServiceEndpoints = optional(
  listMap(
    SERVICE_ENDPOINTS,
    object(undefined, {
      name: choice([...ibmServices, 'Power'], 'Name of the service.'),
      url: text('URL of the service, with https.', {
        format: 'uri',
        pattern: '^https://',
        expected: 'start with https://',
      }),
    }),
    ['name'],
  ),
);
