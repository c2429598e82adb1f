import { choice, object, optional, setList, type Rule } from '../schema.ts';
import { ipAddress } from './network-address.ts';

/** Whoever has set the value cannot change it. */
export const fixedOnceSet = (field: string): Rule<string> => ({
  rule: "oldSelf == '' || self == oldSelf",
  message: `${field} cannot be changed once it is set`,
});

export const loadBalancer = object(
  'The load balancer in front of the API server and the ingress router.',
  {
    type: optional(
      choice(['OpenShiftManagedDefault', 'UserManaged'], 'Whether the platform brings it or the user does.', {
        default: 'OpenShiftManagedDefault',
        rules: [fixedOnceSet('type')],
      }),
    ),
  },
  { default: { type: 'OpenShiftManagedDefault' } },
);

const addresses = (description: string) => optional(setList(description, ipAddress, { maxItems: 16 }));

export const cloudLoadBalancerConfig = object(
  'Load balancers whose names the DNS of the cloud does not know.',
  {
    dnsType: optional(
      choice(
        ['ClusterHosted', 'PlatformDefault'],
        'Who answers for the names: a DNS server in the cluster, or that of the cloud.',
        { default: 'PlatformDefault', rules: [fixedOnceSet('dnsType')] },
      ),
    ),
    clusterHosted: optional(
      object('The addresses that the DNS server in the cluster answers with.', {
        apiIntLoadBalancerIPs: addresses('Addresses of the API server inside the cluster.'),
        apiLoadBalancerIPs: addresses('Addresses of the API server.'),
        ingressLoadBalancerIPs: addresses('Addresses of the ingress router.'),
      }),
    ),
  },
  {
    default: { dnsType: 'PlatformDefault' },
    rules: [
      {
        rule: "!has(self.clusterHosted) || !has(self.dnsType) || self.dnsType == 'ClusterHosted'",
        message: 'clusterHosted is only for dnsType ClusterHosted',
        holds: (self) =>
          self.clusterHosted === undefined || self.dnsType === undefined || self.dnsType === 'ClusterHosted',
      },
    ],
  },
);
