import { type Kind, type ObjectOf, toResource } from '../kind.ts';
import { atomicList, choice, listMap, nullable, object, optional, type Rule, staysOnceSet, text } from '../schema.ts';
import { conditions } from '../shared-fields.ts';
import { CONFIG_GROUP } from './group.ts';

const gateName = (description?: string) =>
  text(description, {
    pattern: '^([A-Za-z0-9-]+\\.)*[A-Za-z0-9-]+\\.?$',
    expected: 'consist of letters, digits, "-" and single ".", and start with no "."',
  });

const forGood = (featureSet: string): Rule<string> => ({
  rule: `oldSelf != '${featureSet}' || self == '${featureSet}'`,
  message: `a cluster with the feature set ${featureSet} cannot be changed to another feature set`,
});

const gates = (description: string) =>
  atomicList(description, object(undefined, { name: gateName('Name of the feature gate.') }));

const schema = object('Optional features of the cluster. There is one FeatureGate, named cluster.', {
  spec: object(
    'Desired features.',
    {
      featureSet: optional(
        choice(
          ['CustomNoUpgrade', 'DevPreviewNoUpgrade', 'TechPreviewNoUpgrade', 'OKD', ''],
          'Feature set to enable. Empty is the default set, for production. A set whose name ends with NoUpgrade blocks upgrades and cannot be undone.',
          {
            rules: [
              forGood('CustomNoUpgrade'),
              forGood('TechPreviewNoUpgrade'),
              forGood('DevPreviewNoUpgrade'),
              {
                rule: "oldSelf != 'OKD' || self != ''",
                message: 'a cluster with the feature set OKD cannot be changed back to the default set',
              },
            ],
          },
        ),
      ),
      customNoUpgrade: optional(
        nullable(
          object('Individual features, for the feature set CustomNoUpgrade.', {
            enabled: optional(atomicList('Names of feature gates to enable.', gateName())),
            disabled: optional(atomicList('Names of feature gates to disable.', gateName())),
          }),
        ),
      ),
    },
    { rules: [staysOnceSet('featureSet')] },
  ),
  status: optional(
    object('Observed features.', {
      conditions: optional(conditions('Conditions of the features.')),
      featureGates: optional(
        listMap(
          'One entry per running cluster version, because an upgrade can change the enabled features.',
          object(undefined, {
            version: text('Version of the cluster.'),
            enabled: optional(gates('Feature gates that are enabled.')),
            disabled: optional(gates('Feature gates that are disabled.')),
          }),
          ['version'],
        ),
      ),
    }),
  ),
});

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
