import {
  atomicList,
  choice,
  int32,
  listMap,
  unionMember,
  object,
  optional,
  type Rule,
  setList,
  staysOnceSet,
  text,
  type TextOptions,
} from '../schema.ts';
import {
  awsServiceEndpoints,
  machineNetworks,
  platformType,
  powerVsServiceEndpoints,
  wantedAddresses,
} from './platform-fields.ts';

const identifier = (description?: string) =>
  object(
    description,
    {
      type: choice(['UUID', 'Name'], 'Whether it is identified by UUID or by name.'),
      uuid: optional(text('The UUID.')),
      name: optional(text('The name.')),
    },
    { rules: [unionMember('type', 'UUID', 'uuid'), unionMember('type', 'Name', 'name')] },
  );

const endpoint = (description: string) =>
  object(description, {
    address: text('DNS name or IP address.', { maxLength: 256 }),
    port: int32('Port.', { minimum: 1, maximum: 65_535 }),
  });

const nutanixPlatformSpec = object('Settings for Nutanix.', {
  prismCentral: endpoint('The Prism Central.'),
  prismElements: listMap(
    'The Prism Elements, one per Nutanix cluster.',
    object(undefined, {
      name: text('Name of the Prism Element.', { maxLength: 256 }),
      endpoint: endpoint('Endpoint of the Prism Element.'),
    }),
    ['name'],
  ),
  failureDomains: optional(
    listMap(
      'Failure domains to distribute machines over.',
      object(undefined, {
        name: text('Name of the failure domain.', {
          minLength: 1,
          maxLength: 64,
          pattern: '[a-z0-9]([-a-z0-9]*[a-z0-9])?',
          expected: 'contain a lower-case letter or a digit',
        }),
        cluster: identifier('The Nutanix cluster.'),
        subnets: atomicList('The subnets.', identifier(), { minItems: 1, maxItems: 1 }),
      }),
      ['name'],
    ),
  ),
});

const server = (options: TextOptions = {}) =>
  text('DNS name or IP address of the vCenter.', {
    maxLength: 255,
    anyFormat: ['ipv4', 'ipv6', 'hostname'],
    ...options,
  });

const inventoryPath = (description: string, below: string, options: TextOptions = {}) =>
  text(description, {
    maxLength: 2048,
    pattern: `^/.*?/${below}`,
    expected: `be a path such as /datacenter/${below.replaceAll(/\.\*\??/g, 'name')}`,
    ...options,
  });

const shortName = (description: string) => text(description, { minLength: 1, maxLength: 80 });

const topology = object('Location in the vCenter.', {
  datacenter: text('Name of the datacenter.', { maxLength: 80 }),
  computeCluster: inventoryPath('Path of the compute cluster.', 'host/.*?'),
  networks: atomicList('Port groups for the machines.', text(), { minItems: 1, maxItems: 10 }),
  datastore: inventoryPath('Path of the datastore.', 'datastore/.*?'),
  resourcePool: optional(inventoryPath('Path of the resource pool.', 'host/.*?/Resources.*')),
  folder: optional(inventoryPath('Path of the folder for machines.', 'vm/.*?')),
  template: optional(inventoryPath('Path of the template that machines are cloned from.', 'vm/.*?', { minLength: 1 })),
});

const zoneAffinity = object(
  'What a zone represents.',
  {
    type: choice(['HostGroup', 'ComputeCluster'], 'Whether a zone is a host group or a compute cluster.'),
    hostGroup: optional(
      object('Host group. For type HostGroup.', {
        hostGroup: shortName('Name of the host group.'),
        vmGroup: shortName('Name of the VM group.'),
        vmHostRule: shortName('Name of the VM-host affinity rule.'),
      }),
    ),
  },
  { rules: [unionMember('type', 'HostGroup', 'hostGroup')] },
);

interface Affinities {
  zoneAffinity?: { type: string };
  regionAffinity?: { type: string };
}

const regionForZone = (zone: string, region: string): Rule<Affinities> => ({
  rule: `!has(self.zoneAffinity) || self.zoneAffinity.type != '${zone}' || (has(self.regionAffinity) && self.regionAffinity.type == '${region}')`,
  message: `regionAffinity type must be ${region} when zoneAffinity type is ${zone}`,
  holds: ({ zoneAffinity, regionAffinity }) => zoneAffinity?.type !== zone || regionAffinity?.type === region,
});

const failureDomain = object(
  undefined,
  {
    name: text('Name of the failure domain.', { minLength: 1, maxLength: 256 }),
    region: shortName('Tag of the region.'),
    zone: shortName('Tag of the zone.'),
    regionAffinity: optional(
      object('What a region represents.', {
        type: choice(['ComputeCluster', 'Datacenter'], 'Whether a region is a compute cluster or a datacenter.'),
      }),
    ),
    zoneAffinity: optional(zoneAffinity),
    server: server({ minLength: 1 }),
    topology,
  },
  { rules: [regionForZone('HostGroup', 'ComputeCluster'), regionForZone('ComputeCluster', 'Datacenter')] },
);

const vcenter = object(undefined, {
  server: server(),
  port: optional(int32('Port of the vCenter.', { minimum: 1, maximum: 32_767 })),
  datacenters: setList('Datacenters of the vCenter that are used.', text(), { minItems: 1 }),
});

const nodeNetwork = (description: string) =>
  object(description, {
    network: optional(text('Name of the network that provides the address.')),
    networkSubnetCidr: optional(setList('Subnets the address must be in.', text(undefined, { format: 'cidr' }))),
    excludeNetworkSubnetCidr: optional(
      atomicList('Subnets the address must not be in.', text(undefined, { format: 'cidr' })),
    ),
  });

const vspherePlatformSpec = object(
  'Settings for vSphere.',
  {
    vcenters: optional(
      atomicList('The vCenters.', vcenter, {
        minItems: 1,
        maxItems: 3,
        rules: [
          {
            rule: 'self.all(x, self.exists_one(y, y.server == x.server))',
            message: 'each server may be listed only once',
            holds: (self) => new Set(self.map(({ server }) => server)).size === self.length,
          },
        ],
      }),
    ),
    failureDomains: optional(listMap('Failure domains to distribute machines over.', failureDomain, ['name'])),
    nodeNetworking: optional(
      object('Which machine addresses the Node reports.', {
        external: optional(nodeNetwork('The external address.')),
        internal: optional(nodeNetwork('The internal address.')),
      }),
    ),
    apiServerInternalIPs: optional(wantedAddresses('apiServerInternalIPs')),
    ingressIPs: optional(wantedAddresses('ingressIPs')),
    machineNetworks: optional(machineNetworks),
  },
  { rules: [staysOnceSet('apiServerInternalIPs'), staysOnceSet('ingressIPs')] },
);

const nothing = (platform: string) => optional(object(`There are no settings for ${platform}.`, {}));

const virtualAddresses = (platform: string) =>
  object(
    `Settings for ${platform}.`,
    {
      apiServerInternalIPs: optional(wantedAddresses('apiServerInternalIPs')),
      ingressIPs: optional(wantedAddresses('ingressIPs')),
      machineNetworks: optional(machineNetworks),
    },
    { rules: [staysOnceSet('apiServerInternalIPs'), staysOnceSet('ingressIPs')] },
  );

export const platformSpec = object(
  'Settings for the platform. Only the part for the platform in use has an effect.',
  {
    type: optional(platformType('Platform that the cluster was installed on.')),
    alibabaCloud: nothing('Alibaba Cloud'),
    aws: optional(object('Settings for AWS.', { serviceEndpoints: awsServiceEndpoints })),
    azure: nothing('Azure'),
    baremetal: optional(virtualAddresses('bare metal')),
    equinixMetal: nothing('Equinix Metal'),
    external: optional(
      object('Settings for a third-party platform.', {
        platformName: optional(
          text('Name of the platform.', {
            default: 'Unknown',
            rules: [
              {
                rule: "oldSelf == 'Unknown' || self == oldSelf",
                message: 'platformName cannot be changed once it is set',
              },
            ],
          }),
        ),
      }),
    ),
    gcp: nothing('Google Cloud'),
    ibmcloud: nothing('IBM Cloud'),
    kubevirt: nothing('KubeVirt'),
    nutanix: optional(nutanixPlatformSpec),
    openstack: optional(virtualAddresses('OpenStack')),
    ovirt: nothing('oVirt'),
    powervs: optional(object('Settings for IBM Power VS.', { serviceEndpoints: powerVsServiceEndpoints })),
    vsphere: optional(vspherePlatformSpec),
  },
  {
    rules: [
      {
        rule: 'has(oldSelf.vsphere) || !has(self.vsphere) || (has(self.vsphere.vcenters) && size(self.vsphere.vcenters) < 2)',
        message: 'a cluster that is configured for vSphere after installation can have only one vCenter',
      },
    ],
  },
);
