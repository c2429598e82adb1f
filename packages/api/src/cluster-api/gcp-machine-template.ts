import { ageColumn, toResource, type Kind, type ObjectOf } from '../kind.ts';
import { atomicList, flag, immutable, int64, listMap, object, optional, stringMap, text } from '../schema.ts';

// Providers ship their templates. This one is for our tests: the fields that the boot images controller uses, and the
// immutability that forces it to clone.

const machine = object('The machine.', {
  instanceType: text('Type of the instance.'),
  image: optional(text('Boot image, as a full reference. Takes precedence over imageFamily.')),
  imageFamily: optional(text('Image family. The machine boots the latest image of the family.')),
  subnet: optional(text('The subnet.')),
  providerID: optional(text('ID of the machine on its platform.')),
  publicIP: optional(flag('Whether the machine has a public address.')),
  preemptible: optional(flag('Whether Google may preempt the machine.')),
  ipForwarding: optional(text('Enabled or Disabled.')),
  rootDeviceType: optional(text('Type of the boot disk.')),
  rootDeviceSize: optional(int64('Size of the boot disk in GB.')),
  additionalLabels: optional(stringMap('Labels for the instance.')),
  additionalNetworkTags: optional(atomicList('Network tags for the instance.', text())),
  additionalMetadata: optional(
    listMap('Metadata for the instance.', object(undefined, { key: text('Key.'), value: optional(text('Value.')) }), [
      'key',
    ]),
  ),
  additionalDisks: optional(
    atomicList(
      'Additional disks.',
      object(undefined, { deviceType: optional(text('Type of the disk.')), size: optional(int64('Size in GB.')) }),
    ),
  ),
  serviceAccounts: optional(
    object('The service account of the instance.', {
      email: optional(text('Email address of the service account.')),
      scopes: optional(atomicList('Access scopes of the service account.', text())),
    }),
  ),
});

const schema = object('Template for machines on Google Cloud.', {
  spec: object(
    'Desired state of the machines. Immutable.',
    { template: object('The template.', { spec: machine }) },
    { rules: [immutable('spec')] },
  ),
});

export type GcpMachineTemplate = ObjectOf<typeof schema>;

export const gcpMachineTemplateKind: Kind<GcpMachineTemplate> = {
  group: 'infrastructure.cluster.x-k8s.io',
  kind: 'GCPMachineTemplate',
  plural: 'gcpmachinetemplates',
  categories: ['cluster-api'],
  namespaced: true,
  install: 'test',
  versions: [{ name: 'v1beta1', schema, columns: [ageColumn] }],
};

export const gcpMachineTemplates = toResource(gcpMachineTemplateKind, 'v1beta1');
