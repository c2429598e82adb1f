import { choice, listMap, unionMember, object, optional } from '../schema.ts';
import { labelSelector } from '../shared-fields.ts';

const selection = object(
  'Which resources of this type are managed.',
  {
    mode: choice(
      ['All', 'Partial', 'None'],
      'All: every resource of this type. Partial: those that match the selector in partial. None: no resource. Opting out does not change the current boot image.',
    ),
    partial: optional(
      object('Selector for mode Partial.', {
        machineResourceSelector: labelSelector('Selects the resources by their labels.'),
      }),
    ),
  },
  { rules: [unionMember('mode', 'Partial', 'partial')] },
);

const machineManager = object(
  undefined,
  {
    resource: choice(
      ['machinesets', 'controlplanemachinesets', 'machinedeployments'],
      'Type of resource that creates machines. Updating the boot image of a MachineDeployment replaces its machines.',
    ),
    apiGroup: choice(
      ['machine.openshift.io', 'cluster.x-k8s.io'],
      'API group of the resource: machine.openshift.io (Machine API) or cluster.x-k8s.io (Cluster API).',
    ),
    selection,
  },
  {
    rules: [
      {
        rule: "self.resource == 'machinesets' || (self.resource == 'machinedeployments') == (self.apiGroup == 'cluster.x-k8s.io')",
        message: 'controlplanemachinesets belong to machine.openshift.io, and machinedeployments to cluster.x-k8s.io',
        holds: ({ resource, apiGroup }) =>
          resource === 'machinesets' || (resource === 'machinedeployments') === (apiGroup === 'cluster.x-k8s.io'),
      },
      {
        rule: "self.resource != 'controlplanemachinesets' || self.selection.mode != 'Partial'",
        message: 'controlplanemachinesets support selection mode All or None, not Partial',
        holds: ({ resource, selection }) => resource !== 'controlplanemachinesets' || selection.mode !== 'Partial',
      },
    ],
  },
);

export const managedBootImages = (description: string) =>
  object(description, {
    machineManagers: optional(
      listMap(
        'One entry per type of resource that creates machines. An empty list opts everything out.',
        machineManager,
        ['resource', 'apiGroup'],
        { maxItems: 5 },
      ),
    ),
  });
