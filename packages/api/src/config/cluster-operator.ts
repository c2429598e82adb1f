import { conditionColumn, type Kind, type ObjectOf, toResource, type Column } from '../kind.ts';
import { atomicList, freeForm, nullable, object, optional, text } from '../schema.ts';
import { clusterStatusConditions, CONFIG_GROUP } from './group.ts';

const schema = object('State that an operator reports, so that the state of the cluster is visible in one place.', {
  spec: object('Empty. Operators are configured elsewhere.', {}),
  status: optional(
    object('Observed state of the operator.', {
      conditions: optional(
        clusterStatusConditions(
          'Conditions of the operator and its components. Upgradeable=False blocks minor upgrades.',
        ),
      ),
      versions: optional(
        atomicList(
          'Versions of the operator and its components. The entry "operator" changes when an upgrade is complete.',
          object(undefined, { name: text('Name of the component.'), version: text('The version.') }),
        ),
      ),
      relatedObjects: optional(
        atomicList(
          'Objects to inspect when the operator has problems.',
          object(undefined, {
            group: text('API group of the object.'),
            resource: text('Plural resource name of the object.'),
            namespace: optional(text('Namespace of the object.')),
            name: text('Name of the object.'),
          }),
        ),
      ),
      extension: optional(nullable(freeForm('Additional information from the operator.'))),
    }),
  ),
});

export type ClusterOperator = ObjectOf<typeof schema>;

const columns: Column[] = [
  { name: 'Version', type: 'string', jsonPath: '.status.versions[?(@.name=="operator")].version' },
  conditionColumn('Available'),
  conditionColumn('Progressing'),
  conditionColumn('Degraded'),
  {
    name: 'Since',
    type: 'date',
    jsonPath: '.status.conditions[?(@.type=="Available")].lastTransitionTime',
    description: 'When the status of Available last changed.',
  },
];

export const clusterOperatorKind: Kind<ClusterOperator> = {
  group: CONFIG_GROUP,
  kind: 'ClusterOperator',
  plural: 'clusteroperators',
  shortNames: ['co'],
  namespaced: false,
  install: 'compat',
  versions: [{ name: 'v1', schema, columns, status: true }],
};

export const clusterOperators = toResource(clusterOperatorKind, 'v1');
