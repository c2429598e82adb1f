import { machineConfigPoolKind } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { checkObject, checkShape } from './check-object.ts';

const GROUP = 'machineconfiguration.openshift.io';
const header = (kind: string) => ({ apiVersion: `${GROUP}/v1`, kind });

const buildConfig = (fields: object, metadata: object = {}) => ({
  ...header('MachineConfig'),
  metadata: { name: '99-x', ...metadata },
  ...fields,
});

const workerSelector = { matchLabels: { [`${GROUP}/role`]: 'worker' } };
const buildPool = (spec: object, fields: object = {}) => ({
  ...header('MachineConfigPool'),
  metadata: { name: 'worker' },
  spec: { machineConfigSelector: workerSelector, ...spec },
  ...fields,
});

const messagesOf = async (value: unknown): Promise<string[]> =>
  (await checkObject(JSON.parse(JSON.stringify(value))))?.findings.map(
    ({ severity, message }) => `${severity}: ${message}`,
  ) ?? [];

describe('a field that the kind does not have is refused, with what was meant', () => {
  it.each<[string, object, string]>([
    [
      'an abbreviation',
      buildConfig({ spec: { kernelArgs: [] } }),
      'spec.kernelArgs: unknown field; did you mean spec.kernelArguments?',
    ],
    [
      'a typo',
      buildConfig({ spec: { extentions: [] } }),
      'spec.extentions: unknown field; did you mean spec.extensions?',
    ],
    ['another case', buildConfig({ Spec: {} }), 'Spec: unknown field; did you mean spec?'],
    ['in metadata', buildConfig({}, { label: {} }), 'metadata.label: unknown field; did you mean metadata.labels?'],
    [
      'a level too high',
      buildConfig({ kernelArguments: [] }),
      'kernelArguments: unknown field; kernelArguments belongs under spec',
    ],
    [
      'a level too low',
      buildConfig({ spec: { labels: {} } }),
      'spec.labels: unknown field; labels belongs under metadata',
    ],
    [
      'of Ignition',
      buildConfig({ spec: { storage: {} } }),
      'spec.storage: unknown field; storage belongs under spec.config',
    ],
    [
      'without a status',
      buildConfig({ status: {} }),
      'status: unknown field; remove it. The fields here are apiVersion, kind, metadata, spec',
    ],
    [
      'null',
      buildConfig({ kernelArguments: null }),
      'kernelArguments: unknown field; kernelArguments belongs under spec',
    ],
  ])('%s', async (_, value, message) => {
    expect(await messagesOf(value)).toStrictEqual([`error: MachineConfig 99-x, ${message}`]);
  });

  it.each<[string, object, string]>([
    [
      'the selector of a Deployment',
      buildPool({ selector: {} }),
      'spec.selector: unknown field; did you mean spec.machineConfigSelector or spec.nodeSelector?',
    ],
    [
      'in the status of a new object',
      buildPool({}, { status: { machinecount: 1 } }),
      'status.machinecount: unknown field; did you mean status.machineCount?',
    ],
  ])('of a pool: %s', async (_, value, message) => {
    expect(await messagesOf(value)).toStrictEqual([`error: MachineConfigPool worker, ${message}`]);
  });

  it('in a policy of MachineConfiguration', async () => {
    const value = {
      apiVersion: 'operator.openshift.io/v1',
      kind: 'MachineConfiguration',
      metadata: { name: 'cluster' },
      spec: { nodeDisruptionPolicy: { file: [] } },
    };
    expect(await messagesOf(value)).toStrictEqual([
      'error: MachineConfiguration cluster, spec.nodeDisruptionPolicy.file: unknown field; did you mean spec.nodeDisruptionPolicy.files?',
    ]);
  });

  it('but not below spec.config, whose fields Ignition defines', async () => {
    const value = buildConfig({ spec: { config: { ignition: { version: '3.4.0' } } } });
    expect(await messagesOf(value)).toStrictEqual([]);
  });

  it('except in a stored object, whose CRD can be newer than ours: a warning, and none in its status', async () => {
    const value = {
      ...buildPool({ fresh: 1 }, { status: { fresh: 1 } }),
      metadata: { name: 'worker', resourceVersion: '7' },
    };
    expect(await messagesOf(value)).toStrictEqual([
      'warning: MachineConfigPool worker, spec.fresh: unknown field; it is ignored, because the CRD of the cluster can be newer',
    ]);
    expect(checkShape(machineConfigPoolKind, value).object).not.toBeNull();
  });
});

it('the status of a new object is not judged: kube-apiserver drops it', async () => {
  const value = buildPool({}, { status: { machineCount: 'many' } });
  expect(await messagesOf(value)).toStrictEqual([]);
  expect(checkShape(machineConfigPoolKind, value).object).not.toHaveProperty('status');
});

describe('metadata is judged as kube-apiserver does', () => {
  const long = 'a'.repeat(64);
  const subdomain = 'must consist of lower-case letters, digits, "-" and ".", and start and end with a letter or digit';
  const qualified = 'must consist of letters, digits, "-", "_" and ".", and start and end with a letter or digit';
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'u' };
  it.each<[object, string]>([
    [{ name: undefined }, 'metadata.name: is required'],
    [{ name: '' }, 'metadata.name: is required'],
    [{ name: undefined, generateName: 'a-' }, 'metadata.name: is required: kubectl apply does not accept generateName'],
    [{ name: 98 }, 'metadata.name: must be a string, not 98; write it in quotes'],
    [{ name: 'a'.repeat(254) }, 'metadata.name: must have at most 253 characters, has 254'],
    [{ name: 'My_Config' }, `metadata.name: ${subdomain}, not "My_Config"`],
    [{ name: 'a..b' }, `metadata.name: ${subdomain}, and so must each part between dots, not "a..b"`],
    [{ generateName: 'B_' }, `metadata.generateName: ${subdomain}, not "B_"`],
    [{ labels: [] }, 'metadata.labels: must be an object, not a list'],
    [{ labels: { a: 1 } }, 'metadata.labels.a: must be a string, not 1; write it in quotes'],
    [{ labels: { a: 'x y' } }, `metadata.labels.a: the value must be empty, or ${qualified.slice(5)}, not "x y"`],
    [{ labels: { a: long } }, 'metadata.labels.a: the value must have at most 63 characters, has 64'],
    [{ labels: { '': 'x' } }, 'metadata.labels[""]: the key must not be empty'],
    [
      { labels: { 'a/b/c': 'x' } },
      'metadata.labels["a/b/c"]: the key may contain one "/", between a domain and a name, as in example.com/name',
    ],
    [
      { labels: { '/a': 'x' } },
      'metadata.labels["/a"]: the key must have a domain before the "/", as in example.com/a',
    ],
    [{ labels: { 'a/': 'x' } }, 'metadata.labels["a/"]: the key must have a name after the "/"'],
    [{ labels: { 'A/b': 'x' } }, `metadata.labels["A/b"]: the domain before the "/" ${subdomain}`],
    [
      { labels: { [long]: 'x' } },
      `metadata.labels.${long}: the name in the key must have at most 63 characters, has 64`,
    ],
    [{ annotations: { 'x y': 'x' } }, `metadata.annotations["x y"]: the key ${qualified}`],
    [{ annotations: { a: true } }, 'metadata.annotations.a: must be a string, not true; write it in quotes'],
    [
      { annotations: { a: 'é'.repeat(131_072) } },
      'metadata.annotations: must have at most 262144 bytes in total, have 262145',
    ],
    [{ finalizers: ['a b/c'] }, `metadata.finalizers[0]: the domain before the "/" ${subdomain}, not "a b/c"`],
    [
      { finalizers: ['orphan', 'foregroundDeletion'] },
      'metadata.finalizers: must not contain both orphan and foregroundDeletion: remove one',
    ],
    [{ ownerReferences: [{ ...owner, uid: '' }] }, 'metadata.ownerReferences[0].uid: is required'],
    [
      { ownerReferences: [{ ...owner, apiVersion: 'a/b/c' }] },
      'metadata.ownerReferences[0].apiVersion: must be a version, or a group and a version as in apps/v1, not "a/b/c"',
    ],
    [
      { ownerReferences: [{ ...owner, kind: 'Event' }] },
      'metadata.ownerReferences[0].kind: an Event cannot be an owner',
    ],
    [
      {
        ownerReferences: [
          { ...owner, controller: true },
          { ...owner, name: 'b', controller: true },
        ],
      },
      'metadata.ownerReferences: only one owner may have controller: true, found Node "a" and Node "b"',
    ],
    [
      { creationTimestamp: 'today' },
      'metadata.creationTimestamp: must be a time such as 2026-01-31T12:00:00Z, not "today"',
    ],
  ])('%j', async (metadata, message) => {
    const messages = await messagesOf(buildConfig({}, metadata));
    expect(messages.map((text) => text.replace(/^error: MachineConfig( \S+)?, /, ''))).toStrictEqual([message]);
  });

  it.each<object>([
    { name: '99-worker.a' },
    { labels: { 'example.com/A_b.c': 'X_y', empty: '', nothing: null }, annotations: null },
    { annotations: { 'Example.com/a': 'any text\n' } },
    { finalizers: ['example.com/a', 'plain'], ownerReferences: [{ ...owner, controller: true }] },
    { creationTimestamp: null, managedFields: [{ fieldsV1: { 'f:spec': {} } }], generation: 3 },
  ])('accepted: %j', async (metadata) => {
    expect(await messagesOf(buildConfig({}, metadata))).toStrictEqual([]);
  });

  it.each<[unknown, string]>([
    [undefined, 'metadata.name: is required'],
    [null, 'metadata.name: is required'],
    [[], 'metadata: must be an object, not a list'],
  ])('metadata %j', async (metadata, message) => {
    expect(await messagesOf({ ...header('MachineConfig'), metadata })).toStrictEqual([
      `error: MachineConfig, ${message}`,
    ]);
  });

  it('the namespace of a cluster-scoped kind has no effect', async () => {
    expect(await messagesOf(buildConfig({}, { namespace: 'default' }))).toStrictEqual([
      'warning: MachineConfig 99-x, metadata.namespace: has no effect, because a MachineConfig belongs to no namespace; remove it',
    ]);
  });

  it('the namespace of a namespaced kind must be a name', async () => {
    const value = {
      apiVersion: 'metal3.io/v1alpha1',
      kind: 'DataImage',
      metadata: { name: 'a', namespace: 'A.b' },
      spec: { url: 'https://isos.example.com/a.iso' },
    };
    expect(await messagesOf(value)).toStrictEqual([
      'error: DataImage a, metadata.namespace: must consist of at most 63 lower-case letters, digits and "-", and start and end with a letter or digit, not "A.b"',
    ]);
  });
});

describe('what the policies deny to users is refused', () => {
  const isos = { apiVersion: 'metal3.io/v1alpha1', kind: 'DataImage', metadata: { name: 'a', namespace: 'hosts' } };
  it.each<[string, object, string]>([
    [
      'a rendered MachineConfig',
      buildConfig({}, { name: 'rendered-worker-a' }),
      'MachineConfig rendered-worker-a: only the render controller creates and changes MachineConfigs that are named rendered-…',
    ],
    [
      'a custom pool without the role worker',
      { ...buildPool({ machineConfigSelector: { matchLabels: { a: 'b' } } }), metadata: { name: 'infra' } },
      'MachineConfigPool infra, spec.machineConfigSelector: must select the MachineConfigs of the role worker as well as its own',
    ],
    [
      'the config of another pool',
      buildPool({ configuration: { name: 'rendered-master-a' } }),
      'MachineConfigPool worker, spec.configuration.name: expected a rendered MachineConfig of this pool, rendered-worker-…, found rendered-master-a',
    ],
    [
      'an ISO at a link-local address',
      { ...isos, spec: { url: 'http://169.254.169.254/a' } },
      'DataImage a, spec.url: expected no link-local address',
    ],
  ])('%s', async (_, value, message) => {
    expect(await messagesOf(value)).toStrictEqual([expect.stringContaining(`error: ${message}`)]);
  });

  it('but not in an object that a cluster has stored: they admit it until it changes', async () => {
    const value = buildConfig({}, { name: 'rendered-worker-a', resourceVersion: '7' });
    expect(await messagesOf(value)).toStrictEqual([]);
  });
});

describe('of a kind that Slipway only reads, the cluster decides what it may contain', () => {
  const others = (apiVersion: string, kind: string, spec: object, metadata: object = {}) => ({
    apiVersion,
    kind,
    metadata: { name: 'a', ...metadata },
    spec,
  });
  const newer = (metadata: object) =>
    others('config.openshift.io/v1', 'FeatureGate', { featureSet: 'Newest', more: {} }, metadata);

  it.each([
    others('config.openshift.io/v1', 'ClusterVersion', { clusterID: 'a', signatureStores: [] }),
    others('metal3.io/v1alpha1', 'BareMetalHost', { online: true, newer: { a: 1 } }),
    others('cluster.x-k8s.io/v1beta2', 'MachineDeployment', { clusterName: 'a', rollout: {} }),
    newer({ resourceVersion: '7' }),
  ])('%j has no findings', async (value) => {
    expect(await messagesOf(value)).toStrictEqual([]);
  });

  it('a probable typo and a value that our copy of the CRD refuses are warnings', async () => {
    const host = others('metal3.io/v1alpha1', 'BareMetalHost', { onlin: true, online: 'yes' });
    expect(await messagesOf(host)).toStrictEqual([
      'warning: BareMetalHost a, spec.onlin: unknown field; did you mean spec.online?',
      'warning: BareMetalHost a, spec.online: must be true or false, not "yes"',
    ]);
    expect(await messagesOf(newer({}))).toStrictEqual([
      expect.stringMatching(/^warning: .*featureSet: must be one of/),
    ]);
  });

  it('its metadata is judged like that of every kind', async () => {
    const host = others('metal3.io/v1alpha1', 'BareMetalHost', { online: true }, { name: 'A', label: {} });
    expect(await messagesOf(host)).toStrictEqual([
      'error: BareMetalHost A, metadata.label: unknown field; did you mean metadata.labels?',
      expect.stringMatching(/^error: BareMetalHost A, metadata.name: must consist of/),
    ]);
  });
});

it('a version that the kind does not have is named', async () => {
  const value = { ...buildConfig({}), apiVersion: `${GROUP}/v1beta1` };
  expect(await messagesOf(value)).toStrictEqual([
    `error: MachineConfig 99-x, apiVersion: must be ${GROUP}/v1, not "${GROUP}/v1beta1"`,
  ]);
});

it.each([null, 'text', [], {}, { kind: 'MachineConfig' }, { apiVersion: 'v1', kind: 'Pod' }])(
  'of %j there is no verdict: the kind is not ours',
  async (value) => {
    expect(await checkObject(value)).toBeNull();
  },
);

it('all errors are reported together, those of the content too', async () => {
  const files = [{ path: '/etc/a', mode: 644 }];
  const config = { ignition: { version: '3.4.0' }, storage: { files } };
  const checked = await checkObject(buildConfig({ spec: { config, kernelArgs: [] } }, { name: 'A' }));
  expect(checked?.findings.map(({ field }) => field)).toStrictEqual([
    'spec.kernelArgs',
    'metadata.name',
    'spec.config.storage.files[0].mode',
  ]);
  expect(checked?.object).toBeNull();
});
