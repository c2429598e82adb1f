import { choice, listMap, unionMember, object, optional } from '../schema.ts';
import { labelSelector } from '../shared-fields.ts';

const selection = object(
  'Which resources of that type.',
  {
    mode: choice(
      ['All', 'Partial', 'None'],
      'All of them, those that the selector under partial matches, or none. Opting out leaves the last boot image in place.',
    ),
    partial: optional(
      object('The selector for mode Partial.', {
        machineResourceSelector: labelSelector('Which resources, by their labels.'),
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
      'Type of the resource that makes machines. A changed machinedeployments resource replaces its machines.',
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
        message: 'controlplanemachinesets take selection mode All or None, not Partial',
        holds: ({ resource, selection }) => resource !== 'controlplanemachinesets' || selection.mode !== 'Partial',
      },
    ],
  },
);

export const managedBootImages = (description: string) =>
  object(description, {
    machineManagers: optional(
      listMap(
        'One entry for each type of resource that makes machines. An empty list opts everything out.',
        machineManager,
        ['resource', 'apiGroup'],
        { maxItems: 5 },
      ),
    ),
  });
