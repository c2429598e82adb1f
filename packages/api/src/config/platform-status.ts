import { choice, object, optional, text } from '../schema.ts';
import {
  alibabaCloudStatus,
  awsStatus,
  azureStatus,
  gcpStatus,
  ibmCloudStatus,
  powerVsStatus,
} from './cloud-platform-status.ts';
import { loadBalancer } from './load-balancer.ts';
import { machineNetworks, observedAddresses, observedAddressSet } from './network-address.ts';
import { platformType } from './platform-type.ts';

const firstAddresses = {
  apiServerInternalIP: optional(text('Superseded by apiServerInternalIPs: its first address.')),
  ingressIP: optional(text('Superseded by ingressIPs: its first address.')),
};

const nodeDNSIP = optional(text('Address of a DNS server that knows the nodes. No longer used.'));

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
  'For a platform that others bring.',
  {
    cloudControllerManager: optional(
      object(
        'Whether there is a cloud controller manager.',
        {
          state: optional(
            choice(['', 'External', 'None'], 'External: nodes wait for one. None or empty: there is none.', {
              rules: [{ rule: 'self == oldSelf', message: 'state cannot be changed once it is set' }],
            }),
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

export const platformStatus = object('What is known of the platform.', {
  type: optional(platformType('The platform the cluster runs on.')),
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
