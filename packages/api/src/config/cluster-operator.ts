import { conditionColumn, type Kind, type ObjectOf, toResource, type Column } from '../kind.ts';
import { atomicList, freeForm, nullable, object, optional, text } from '../schema.ts';
import { clusterStatusConditions, CONFIG_GROUP } from './group.ts';

const schema = object('What an operator says about itself, so that one place shows the state of the cluster.', {
  spec: object('Empty: an operator is configured elsewhere.', {}),
  status: optional(
    object('The state of the operator.', {
      conditions: optional(
        clusterStatusConditions(
          'Findings of the operator about what it manages. Upgradeable=False stops minor upgrades.',
        ),
      ),
      versions: optional(
        atomicList(
          'Versions of what the operator runs. The one named "operator" says that it has finished an upgrade.',
          object(undefined, { name: text('What the version is of.'), version: text('The version.') }),
        ),
      ),
      relatedObjects: optional(
        atomicList(
          'Objects to look at when the operator is in trouble.',
          object(undefined, {
            group: text('API group of the object.'),
            resource: text('Resource of the object, in the plural.'),
            namespace: optional(text('Namespace of the object.')),
            name: text('Name of the object.'),
          }),
        ),
      ),
      extension: optional(nullable(freeForm('Whatever else the operator has to say.'))),
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
    description: 'Since when Available is what it is.',
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
