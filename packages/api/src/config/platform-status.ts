import {
  atomicList,
  choice,
  listMap,
  matching,
  nullable,
  object,
  optional,
  type Rule,
  staysOnceSet,
  text,
} from '../schema.ts';
import {
  awsServiceEndpoints,
  cloudLoadBalancerConfig,
  fixedOnceSet,
  ibmCloudServiceEndpoints,
  loadBalancer,
  machineNetworks,
  observedAddresses,
  observedAddressSet,
  platformType,
  powerVsServiceEndpoints,
} from './platform-fields.ts';

const onlyAtInstallation = (field: string): Rule<object> => ({
  rule: `has(self.${field}) == has(oldSelf.${field})`,
  message: `${field} can only be set during installation`,
});

const unchanged = (field: string): Rule<unknown[]> => ({
  rule: 'self.all(x, x in oldSelf) && oldSelf.all(x, x in self)',
  message: `${field} can only be set during installation and cannot be changed afterwards`,
});

const awsTagText = matching(
  '^[0-9A-Za-z_.:/=+-@ ]+$',
  "an AWS tag may contain letters, digits, spaces and the characters '_', '.', '/', '=', '+', '-', ':' and '@'",
);

const alibabaCloudStatus = object('For Alibaba Cloud.', {
  region: text('The region.', { pattern: '^[0-9A-Za-z-]+$', expected: 'consist of letters, digits and "-"' }),
  resourceGroupID: optional(
    text('ID of the resource group.', {
      pattern: '^(rg-[0-9A-Za-z]+)?$',
      expected: 'start with rg-, followed by letters and digits',
    }),
  ),
  resourceTags: optional(
    listMap(
      'Tags for all cloud resources of the cluster.',
      object(undefined, {
        key: text('Key of the tag.', { minLength: 1, maxLength: 128 }),
        value: text('Value of the tag.', { minLength: 1, maxLength: 128 }),
      }),
      ['key'],
      { maxItems: 20 },
    ),
  ),
});

const awsStatus = object('For AWS.', {
  region: optional(text('The region.')),
  ipFamily: optional(
    choice(['IPv4', 'DualStackIPv6Primary', 'DualStackIPv4Primary'], 'The IP families of the cluster.', {
      default: 'IPv4',
      rules: [fixedOnceSet('ipFamily')],
    }),
  ),
  serviceEndpoints: awsServiceEndpoints,
  resourceTags: optional(
    atomicList(
      'Tags for all cloud resources of the cluster.',
      object(undefined, {
        key: text('Key of the tag.', { minLength: 1, maxLength: 128, rules: [awsTagText] }),
        value: text('Value of the tag.', { minLength: 1, maxLength: 256, rules: [awsTagText] }),
      }),
      { maxItems: 25 },
    ),
  ),
  cloudLoadBalancerConfig: optional(nullable(cloudLoadBalancerConfig)),
});

const azureStatus = object(
  'For Azure.',
  {
    cloudName: optional(
      choice(
        [
          '',
          'AzurePublicCloud',
          'AzureUSGovernmentCloud',
          'AzureChinaCloud',
          'AzureGermanCloud',
          'AzureStackCloud',
          'AzureUSSecCloud',
        ],
        'Which Azure cloud.',
      ),
    ),
    armEndpoint: optional(text('Endpoint of the resource manager, for Azure Stack.')),
    resourceGroupName: optional(text('Name of the resource group.')),
    networkResourceGroupName: optional(text('Name of the resource group of the network.')),
    resourceTags: optional(
      atomicList(
        'Tags for all cloud resources of the cluster.',
        object(undefined, {
          key: text('Key of the tag.', {
            minLength: 1,
            maxLength: 128,
            pattern: '^[a-zA-Z]([0-9A-Za-z_.-]*[0-9A-Za-z_])?$',
            expected:
              'consist of letters, digits, "_", "." and "-", start with a letter, and end with a letter, a digit or "_"',
          }),
          value: text('Value of the tag.', {
            minLength: 1,
            maxLength: 256,
            pattern: '^[0-9A-Za-z_.=+-@]+$',
            expected: 'consist of letters, digits and the characters "_", "=" and those from "+" to "@" in ASCII',
          }),
        }),
        { maxItems: 10, rules: [unchanged('resourceTags')] },
      ),
    ),
    cloudLoadBalancerConfig: optional(cloudLoadBalancerConfig),
  },
  { rules: [onlyAtInstallation('resourceTags')] },
);

const gcpStatus = object(
  'For Google Cloud.',
  {
    projectID: optional(text('ID of the project.')),
    region: optional(text('The region.')),
    resourceLabels: optional(
      listMap(
        'Labels for all cloud resources of the cluster.',
        object(undefined, {
          key: text('Key of the label.', {
            minLength: 1,
            maxLength: 63,
            pattern: '^[a-z][0-9a-z_-]{0,62}$',
            expected: 'consist of lower-case letters, digits, "_" and "-", and start with a letter',
            rules: [
              {
                rule: "!self.startsWith('openshift-io') && !self.startsWith('kubernetes-io')",
                message: 'must not start with openshift-io or kubernetes-io',
                holds: (self) => !self.startsWith('openshift-io') && !self.startsWith('kubernetes-io'),
              },
            ],
          }),
          value: text('Value of the label.', {
            minLength: 1,
            maxLength: 63,
            pattern: '^[0-9a-z_-]{1,63}$',
            expected: 'consist of lower-case letters, digits, "_" and "-"',
          }),
        }),
        ['key'],
        { maxItems: 32, rules: [unchanged('resourceLabels')] },
      ),
    ),
    resourceTags: optional(
      listMap(
        'Tags for all cloud resources of the cluster.',
        object(undefined, {
          parentID: text('Project or organization that defines the tag.', {
            minLength: 1,
            maxLength: 32,
            pattern: '(^[1-9][0-9]{0,31}$)|(^[a-z][a-z0-9-]{4,28}[a-z0-9]$)',
            expected:
              'be the number of an organization, or the ID of a project: 6 to 30 lower-case letters, digits and "-", starting with a letter',
          }),
          key: text('Key of the tag.', {
            minLength: 1,
            maxLength: 63,
            pattern: '^[a-zA-Z0-9]([0-9A-Za-z_.-]{0,61}[a-zA-Z0-9])?$',
            expected: 'consist of letters, digits, "_", "." and "-", and start and end with a letter or digit',
          }),
          value: text('Value of the tag.', {
            minLength: 1,
            maxLength: 63,
            pattern: '^[a-zA-Z0-9]([0-9A-Za-z_.@%=+:,*#&()\\[\\]{}\\-\\s]{0,61}[a-zA-Z0-9])?$',
            expected:
              'consist of letters, digits, spaces and the characters _ . @ % = + : , * # & ( ) [ ] { } -, and start and end with a letter or digit',
          }),
        }),
        ['key'],
        { maxItems: 50, rules: [unchanged('resourceTags')] },
      ),
    ),
    cloudLoadBalancerConfig: optional(nullable(cloudLoadBalancerConfig)),
  },
  { rules: [onlyAtInstallation('resourceLabels'), onlyAtInstallation('resourceTags')] },
);

const ibmInstances = {
  cisInstanceCRN: optional(text('CRN of the Cloud Internet Services instance with the DNS zone.')),
  dnsInstanceCRN: optional(text('CRN of the DNS Services instance with the DNS zone.')),
};

const ibmCloudStatus = object('For IBM Cloud.', {
  location: optional(text('Location of the cluster.')),
  providerType: optional(text('Kind of infrastructure.')),
  resourceGroupName: optional(text('Name of the resource group.')),
  ...ibmInstances,
  serviceEndpoints: ibmCloudServiceEndpoints,
});

const powerVsStatus = object(
  'For IBM Power VS.',
  {
    region: optional(text('The region.')),
    zone: optional(text('The zone.')),
    resourceGroup: optional(
      text('Name of the resource group.', {
        maxLength: 40,
        pattern: '^[a-zA-Z0-9-_ ]+$',
        expected: 'consist of letters, digits, spaces, "-" and "_"',
        rules: [fixedOnceSet('resourceGroup')],
      }),
    ),
    ...ibmInstances,
    serviceEndpoints: powerVsServiceEndpoints,
  },
  { rules: [staysOnceSet('resourceGroup')] },
);

const firstAddresses = {
  apiServerInternalIP: optional(text('Deprecated: the first address of apiServerInternalIPs.')),
  ingressIP: optional(text('Deprecated: the first address of ingressIPs.')),
};

const nodeDNSIP = optional(text('Address of a DNS server that resolves the nodes. No longer used.'));

const onPremises = {
  ...firstAddresses,
  apiServerInternalIPs: optional(observedAddresses('apiServerInternalIPs')),
  ingressIPs: optional(observedAddresses('ingressIPs')),
  loadBalancer: optional(loadBalancer),
  machineNetworks: optional(machineNetworks),
  nodeDNSIP,
};

const addressSets = {
  ...firstAddresses,
  apiServerInternalIPs: optional(observedAddressSet('apiServerInternalIPs')),
  ingressIPs: optional(observedAddressSet('ingressIPs')),
  loadBalancer: optional(loadBalancer),
};

const external = object(
  'For a third-party platform.',
  {
    cloudControllerManager: optional(
      object(
        'Whether there is a cloud controller manager.',
        {
          state: optional(
            choice(
              ['', 'External', 'None'],
              'External: nodes wait for a cloud controller manager. None or empty: there is none.',
              {
                rules: [{ rule: 'self == oldSelf', message: 'state cannot be changed once it is set' }],
              },
            ),
          ),
        },
        {
          rules: [
            {
              rule: "has(self.state) == has(oldSelf.state) || (!has(oldSelf.state) && self.state != 'External')",
              message: 'state cannot be added as External, nor removed, after installation',
            },
          ],
        },
      ),
    ),
  },
  {
    rules: [
      {
        rule: 'has(self.cloudControllerManager) == has(oldSelf.cloudControllerManager)',
        message: 'cloudControllerManager cannot be added or removed after installation',
      },
    ],
  },
);

export const platformStatus = object('Observed platform.', {
  type: optional(platformType('Platform that the cluster runs on.')),
  alibabaCloud: optional(alibabaCloudStatus),
  aws: optional(awsStatus),
  azure: optional(azureStatus),
  baremetal: optional(object('For bare metal.', onPremises)),
  equinixMetal: optional(object('For Equinix Metal.', firstAddresses)),
  external: optional(external),
  gcp: optional(gcpStatus),
  ibmcloud: optional(ibmCloudStatus),
  kubevirt: optional(object('For KubeVirt.', firstAddresses)),
  nutanix: optional(object('For Nutanix.', addressSets)),
  openstack: optional(
    object('For OpenStack.', { ...onPremises, cloudName: optional(text('Name of the cloud in clouds.yaml.')) }),
  ),
  ovirt: optional(object('For oVirt.', { ...addressSets, nodeDNSIP })),
  powervs: optional(powerVsStatus),
  vsphere: optional(object('For vSphere.', onPremises)),
});
