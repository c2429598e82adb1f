import { ageColumn, type Kind, type ObjectOf, toResource } from '../kind.ts';
import { atomicList, choice, immutable, int64, object, optional, text, timestamp } from '../schema.ts';
import { subdomain } from '../shared-fields.ts';
import { MACHINE_CONFIGURATION_GROUP } from './names.ts';

const spec = object('The resource that this history belongs to.', {
  machineResourceReference: object(
    'The resource that creates machines, in the same namespace as this object.',
    {
      name: subdomain('Name of the resource.', { minLength: 1 }),
      resource: text('Kind of the resource, such as MachineSet or MachineDeployment.', { minLength: 1, maxLength: 63 }),
      apiGroup: choice(
        ['machine.openshift.io', 'cluster.x-k8s.io'],
        'API group of the resource: machine.openshift.io (Machine API) or cluster.x-k8s.io (Cluster API).',
      ),
    },
    { rules: [immutable('machineResourceReference')] },
  ),
});

const status = object('Boot images that the resource has used.', {
  details: optional(
    atomicList(
      'One entry per boot image change, oldest first.',
      object(undefined, {
        updateTime: timestamp('When the resource was switched to this boot image.'),
        bootImageVersion: text('Version of the boot image, such as 415.92.202311241643-0.', {
          minLength: 1,
          maxLength: 253,
        }),
        configMapGeneration: int64('Generation counter of the ConfigMap coreos-bootimages at the time of the change.'),
      }),
      { maxItems: 200 },
    ),
  ),
});

const schema = object(
  'History of the boot images of a MachineSet or MachineDeployment, so that it can be rolled back to an earlier one.',
  { spec, status: optional(status) },
);

export type BootImageHistory = ObjectOf<typeof schema>;

export const bootImageHistoryKind: Kind<BootImageHistory> = {
  group: MACHINE_CONFIGURATION_GROUP,
  kind: 'BootImageHistory',
  plural: 'bootimagehistories',
  shortNames: ['bih'],
  namespaced: true,
  install: 'own',
  versions: [
    {
      name: 'v1alpha1',
      schema,
      columns: [
        { name: 'Resource', type: 'string', jsonPath: '.spec.machineResourceReference.resource' },
        { name: 'ResourceName', type: 'string', jsonPath: '.spec.machineResourceReference.name' },
        { name: 'APIGroup', type: 'string', jsonPath: '.spec.machineResourceReference.apiGroup', priority: 1 },
        {
          name: 'BootImage',
          type: 'string',
          jsonPath: '.status.details[-1:].bootImageVersion',
          description: 'The current boot image.',
        },
        ageColumn,
      ],
      status: true,
    },
  ],
};

export const bootImageHistories = toResource(bootImageHistoryKind, 'v1alpha1');
