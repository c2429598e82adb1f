import { type Kind, type ObjectOf, toResource } from '../kind.ts';
import { atomicList, choice, listMap, nullable, object, optional, type Rule, staysOnceSet, text } from '../schema.ts';
import { conditions } from '../shared-fields.ts';
import { CONFIG_GROUP } from './group.ts';

const gateName = (description?: string) => text(description, { pattern: '^([A-Za-z0-9-]+\\.)*[A-Za-z0-9-]+\\.?$' });

const forGood = (featureSet: string): Rule<string> => ({
  rule: `oldSelf != '${featureSet}' || self == '${featureSet}'`,
  message: `a cluster with the feature set ${featureSet} cannot be brought back to another`,
});

const gates = (description: string) =>
  atomicList(description, object(undefined, { name: gateName('Name of the gate.') }));

const schema = object(
  'Which features that are not for everybody are switched on in the cluster. Its name is cluster.',
  {
    spec: object(
      'Which features shall be on.',
      {
        featureSet: optional(
          choice(
            ['CustomNoUpgrade', 'DevPreviewNoUpgrade', 'TechPreviewNoUpgrade', 'OKD', ''],
            'A set of features. Empty is the set for production. A set whose name ends with NoUpgrade stops upgrades and cannot be undone.',
            {
              rules: [
                forGood('CustomNoUpgrade'),
                forGood('TechPreviewNoUpgrade'),
                forGood('DevPreviewNoUpgrade'),
                {
                  rule: "oldSelf != 'OKD' || self != ''",
                  message: 'a cluster with the feature set OKD cannot be brought back to the default set',
                },
              ],
            },
          ),
        ),
        customNoUpgrade: optional(
          nullable(
            object('Single features to switch, for the feature set CustomNoUpgrade.', {
              enabled: optional(atomicList('Names of gates to switch on.', gateName())),
              disabled: optional(atomicList('Names of gates to switch off.', gateName())),
            }),
          ),
        ),
      },
      { rules: [staysOnceSet('featureSet')] },
    ),
    status: optional(
      object('Which features are on.', {
        conditions: optional(conditions('Findings about the features.')),
        featureGates: optional(
          listMap(
            'One entry for each version of the cluster that is running, since an upgrade may change what is on.',
            object(undefined, {
              version: text('The version of the cluster.'),
              enabled: optional(gates('Gates that are on.')),
              disabled: optional(gates('Gates that are off.')),
            }),
            ['version'],
          ),
        ),
      }),
    ),
  },
);

export type FeatureGate = ObjectOf<typeof schema>;

export const featureGateKind: Kind<FeatureGate> = {
  group: CONFIG_GROUP,
  kind: 'FeatureGate',
  plural: 'featuregates',
  namespaced: false,
  install: 'compat',
  versions: [{ name: 'v1', schema, status: true }],
};

export const featureGates = toResource(featureGateKind, 'v1');
