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

const architecture = optional(choice(['Multi', ''], 'Multi for a release that holds every architecture, else empty.'));

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
    url: optional(text('A page about the release.')),
    channels: optional(setList('Channels the release is in.', text())),
  });

const risk = object(undefined, {
  name: text('Name of the risk, in CamelCase.', { minLength: 1 }),
  message: text('What may happen.', { minLength: 1 }),
  url: text('A page about the risk.', { format: 'uri', minLength: 1 }),
  matchingRules: atomicList(
    'How to find out whether the cluster is exposed. The first rule that can be evaluated counts.',
    object(undefined, {
      type: choice(['Always', 'PromQL'], 'Always, or by a query.'),
      promql: optional(
        object('The query.', { promql: text('A PromQL query that gives 1 where the cluster is exposed.') }),
      ),
    }),
    { minItems: 1 },
  ),
});

const desiredUpdate = object(
  'The release to go to. Left out, the cluster stays where it is.',
  {
    version: optional(text('Version of the release.')),
    image: optional(text('The release image, instead of a version.')),
    architecture,
    force: optional(flag('Go ahead although a check says no.')),
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

const spec = object('The release the cluster shall run.', {
  clusterID: text('UUID of the cluster.'),
  channel: optional(text('The channel to take updates from.')),
  upstream: optional(text('The server to ask for updates.')),
  desiredUpdate: optional(desiredUpdate),
  capabilities: optional(
    object('Optional parts of the cluster to install.', {
      baselineCapabilitySet: optional(
        choice(
          ['None', 'v4.11', 'v4.12', 'v4.13', 'v4.14', 'v4.15', 'v4.16', 'v4.17', 'v4.18', 'vCurrent'],
          'The set to begin with.',
        ),
      ),
      additionalEnabledCapabilities: capabilities('Parts to install beyond that set.'),
    }),
  ),
  overrides: optional(
    listMap(
      'Objects the cluster version operator shall leave alone.',
      object(undefined, {
        group: text('API group of the object.'),
        kind: text('Kind of the object.'),
        namespace: text('Namespace of the object, empty if it has none.'),
        name: text('Name of the object.'),
        unmanaged: flag('Whether to leave it alone.'),
      }),
      ['kind', 'group', 'namespace', 'name'],
    ),
  ),
});

const status = object('The release the cluster runs.', {
  desired: release('The release the cluster runs or is on the way to.'),
  history: optional(
    atomicList(
      'The releases the cluster has been on, newest first.',
      object(undefined, {
        version: optional(text('Version of the release.')),
        image: text('The release image.'),
        state: text('Completed, or Partial if it was not finished.'),
        startedTime: timestamp('When the update began.'),
        completionTime: nullable(timestamp('When it was done.')),
        verified: flag('Whether the signature of the release was checked.'),
        acceptedRisks: optional(text('Risks that were accepted for it.')),
      }),
    ),
  ),
  observedGeneration: int64('The generation of this object that the status is for.'),
  versionHash: text('A hash of what the operator works from.'),
  conditions: optional(
    clusterStatusConditions('Findings about the cluster: Available, Progressing, Upgradeable and others.'),
  ),
  availableUpdates: nullable(atomicList('Releases the cluster can go to.', release())),
  conditionalUpdates: optional(
    atomicList(
      'Releases the cluster can go to, but at a risk.',
      object(undefined, {
        release: release('The release.'),
        risks: listMap('The risks.', risk, ['name'], { minItems: 1, maxItems: 200 }),
        conditions: optional(conditions('Whether it is recommended for this cluster.')),
      }),
      { maxItems: 500 },
    ),
  ),
  capabilities: optional(
    object('Optional parts of the cluster.', {
      enabledCapabilities: capabilities('Parts that are installed.'),
      knownCapabilities: capabilities('Parts that there are.'),
    }),
  ),
});

const schema = object(
  'The release the cluster runs, and the one it shall run. Its name is version.',
  { spec, status: optional(status) },
  {
    rules: [
      {
        // A conditional and not a chain of ||: with baselineCapabilitySet left out it must fail, as it does elsewhere.
        rule: [
          '(has(self.spec.capabilities) && has(self.spec.capabilities.additionalEnabledCapabilities)',
          "&& self.spec.capabilities.baselineCapabilitySet == 'None'",
          "&& 'marketplace' in self.spec.capabilities.additionalEnabledCapabilities)",
          "? ('OperatorLifecycleManager' in self.spec.capabilities.additionalEnabledCapabilities",
          '|| (has(self.status) && has(self.status.capabilities) && has(self.status.capabilities.enabledCapabilities)',
          "&& 'OperatorLifecycleManager' in self.status.capabilities.enabledCapabilities))",
          ': true',
        ].join(' '),
        message: 'the capability marketplace needs OperatorLifecycleManager: enable that too',
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
