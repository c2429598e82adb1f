import { object, optional, staysOnceSet, text } from '../schema.ts';
import { machineNetworks, wantedAddresses } from './network-address.ts';
import { nutanixPlatformSpec } from './nutanix-platform.ts';
import { platformType } from './platform-type.ts';
import { awsServiceEndpoints, powerVsServiceEndpoints } from './service-endpoint.ts';
import { vspherePlatformSpec } from './vsphere-platform.ts';

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
  'Settings of the platform. Only the part for the platform in use counts.',
  {
    type: optional(platformType('The platform the cluster was installed on.')),
    alibabaCloud: nothing('Alibaba Cloud'),
    aws: optional(object('Settings for AWS.', { serviceEndpoints: awsServiceEndpoints })),
    azure: nothing('Azure'),
    baremetal: optional(virtualAddresses('bare metal')),
    equinixMetal: nothing('Equinix Metal'),
    external: optional(
      object('Settings for a platform that others bring.', {
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
        message: 'a cluster that is set up for vSphere after installation can name one vCenter',
      },
    ],
  },
);
