import { conditionColumn, type Kind, type ObjectOf, toResource, type Column } from '../kind.ts';
import {
  atomicList,
  choice,
  flag,
  int64,
  listMap,
  nullable,
  object,
  optional,
  setList,
  text,
  timestamp,
} from '../schema.ts';
import { conditions } from '../shared-fields.ts';
import { clusterStatusConditions, CONFIG_GROUP } from './group.ts';

const architecture = optional(choice(['Multi', ''], 'Multi for a multi-architecture release, otherwise empty.'));

const capabilities = (description: string) =>
  optional(
    atomicList(
      description,
      choice([
        'openshift-samples',
        'baremetal',
        'marketplace',
        'Console',
        'Insights',
        'Storage',
        'CSISnapshot',
        'NodeTuning',
        'MachineAPI',
        'Build',
        'DeploymentConfig',
        'ImageRegistry',
        'OperatorLifecycleManager',
        'CloudCredential',
        'Ingress',
        'CloudControllerManager',
        'OperatorLifecycleManagerV1',
      ]),
    ),
  );

const release = (description?: string) =>
  object(description, {
    version: text('Version of the release.'),
    image: text('The release image, by digest.'),
    architecture,
    url: optional(text('Web page about the release.')),
    channels: optional(setList('Channels that contain the release.', text())),
  });

const risk = object(undefined, {
  name: text('Name of the risk, in CamelCase.', { minLength: 1 }),
  message: text('What may happen.', { minLength: 1 }),
  url: text('Web page about the risk.', { format: 'uri', minLength: 1 }),
  matchingRules: atomicList(
    'Rules that determine whether the cluster is exposed. The first rule that can be evaluated applies.',
    object(undefined, {
      type: choice(['Always', 'PromQL'], 'Always: every cluster is exposed. PromQL: a query decides.'),
      promql: optional(
        object('The query.', { promql: text('PromQL query that returns 1 if the cluster is exposed.') }),
      ),
    }),
    { minItems: 1 },
  ),
});

const desiredUpdate = object(
  'Release to update to. If omitted, the cluster stays at its current release.',
  {
    version: optional(text('Version of the release.')),
    image: optional(text('Release image, instead of a version.')),
    architecture,
    force: optional(flag('Update even if a check fails.')),
  },
  {
    rules: [
      {
        rule: '!has(self.architecture) || !has(self.image) || self.architecture == "" || self.image == ""',
        message: 'set architecture or image, not both',
        holds: (self) => !self.architecture || !self.image,
      },
      {
        rule: '!has(self.architecture) || self.architecture == "" || self.version != ""',
        message: 'version is required with architecture',
        holds: (self) => !self.architecture || (self.version !== undefined && self.version !== ''),
      },
    ],
  },
);

const spec = object('Desired release of the cluster.', {
  clusterID: text('UUID of the cluster.'),
  channel: optional(text('Channel that provides updates.')),
  upstream: optional(text('Server to query for updates.')),
  desiredUpdate: optional(desiredUpdate),
  capabilities: optional(
    object('Optional components to install.', {
      baselineCapabilitySet: optional(
        choice(
          ['None', 'v4.11', 'v4.12', 'v4.13', 'v4.14', 'v4.15', 'v4.16', 'v4.17', 'v4.18', 'vCurrent'],
          'Baseline set of components.',
        ),
      ),
      additionalEnabledCapabilities: capabilities('Components to install in addition to the baseline set.'),
    }),
  ),
  overrides: optional(
    listMap(
      'Objects that the cluster version operator ignores.',
      object(undefined, {
        group: text('API group of the object.'),
        kind: text('Kind of the object.'),
        namespace: text('Namespace of the object. Empty for a cluster-scoped object.'),
        name: text('Name of the object.'),
        unmanaged: flag('Whether the cluster version operator ignores the object.'),
      }),
      ['kind', 'group', 'namespace', 'name'],
    ),
  ),
});

const status = object('Observed release of the cluster.', {
  desired: release('Release that the cluster runs or is updating to.'),
  history: optional(
    atomicList(
      'Releases that the cluster has run, newest first.',
      object(undefined, {
        version: optional(text('Version of the release.')),
        image: text('The release image.'),
        state: text('Completed, or Partial if the update did not finish.'),
        startedTime: timestamp('When the update started.'),
        completionTime: nullable(timestamp('When the update completed.')),
        verified: flag('Whether the signature of the release was verified.'),
        acceptedRisks: optional(text('Risks that were accepted for the update.')),
      }),
    ),
  ),
  observedGeneration: int64('The metadata.generation that this status reflects.'),
  versionHash: text('Hash of the manifests that the operator applies.'),
  conditions: optional(
    clusterStatusConditions('Conditions of the cluster: Available, Progressing, Upgradeable and others.'),
  ),
  availableUpdates: nullable(atomicList('Releases that the cluster can update to.', release())),
  conditionalUpdates: optional(
    atomicList(
      'Releases that the cluster can update to, with known risks.',
      object(undefined, {
        release: release('The release.'),
        risks: listMap('The risks.', risk, ['name'], { minItems: 1, maxItems: 200 }),
        conditions: optional(conditions('Whether the release is recommended for this cluster.')),
      }),
      { maxItems: 500 },
    ),
  ),
  capabilities: optional(
    object('Optional components of the cluster.', {
      enabledCapabilities: capabilities('Components that are installed.'),
      knownCapabilities: capabilities('Components that are available.'),
    }),
  ),
});

const schema = object(
  'Current and desired release of the cluster. There is one ClusterVersion, named version.',
  { spec, status: optional(status) },
  {
    rules: [
      {
        // A conditional instead of a chain of ||: like the platform's rule, it must fail without baselineCapabilitySet.
        rule: [
          '(has(self.spec.capabilities) && has(self.spec.capabilities.additionalEnabledCapabilities)',
          "&& self.spec.capabilities.baselineCapabilitySet == 'None'",
          "&& 'marketplace' in self.spec.capabilities.additionalEnabledCapabilities)",
          "? ('OperatorLifecycleManager' in self.spec.capabilities.additionalEnabledCapabilities",
          '|| (has(self.status) && has(self.status.capabilities) && has(self.status.capabilities.enabledCapabilities)',
          "&& 'OperatorLifecycleManager' in self.status.capabilities.enabledCapabilities))",
          ': true',
        ].join(' '),
        message: 'the capability marketplace requires OperatorLifecycleManager: enable it too',
      },
    ],
  },
);

export type ClusterVersion = ObjectOf<typeof schema>;

const columns: Column[] = [
  { name: 'Version', type: 'string', jsonPath: '.status.history[?(@.state=="Completed")].version' },
  conditionColumn('Available'),
  conditionColumn('Progressing'),
  { name: 'Since', type: 'date', jsonPath: '.status.conditions[?(@.type=="Progressing")].lastTransitionTime' },
  { name: 'Status', type: 'string', jsonPath: '.status.conditions[?(@.type=="Progressing")].message' },
];

export const clusterVersionKind: Kind<ClusterVersion> = {
  group: CONFIG_GROUP,
  kind: 'ClusterVersion',
  plural: 'clusterversions',
  namespaced: false,
  install: 'compat',
  versions: [{ name: 'v1', schema, columns, status: true }],
};

export const clusterVersions = toResource(clusterVersionKind, 'v1');
