// Objects that a user creates, whose verdict offline must be that of the API server.
import { builtInLabel, osStreamAnnotation, poolLabel, ROLE_LABEL, targetConfigAnnotation } from '@slipway/api';

type Verdict = [title: string, object: { apiVersion: string; kind: string; [field: string]: unknown }];

const GROUP = 'machineconfiguration.openshift.io';
const LONG = 'a'.repeat(64);

const config = (fields: object, metadata: object = {}) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'MachineConfig',
  metadata: { name: '99-x', ...metadata },
  ...fields,
});

const withFiles = (...files: unknown[]) =>
  config({ spec: { config: { ignition: { version: '3.4.0' }, storage: { files } } } });

const role = (name: string) => ({ matchLabels: { [ROLE_LABEL]: name } });
const pool = (spec: object, metadata: object = {}, status?: object) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'MachineConfigPool',
  metadata: { name: 'worker', ...metadata },
  spec: { machineConfigSelector: role('worker'), ...spec },
  ...(status && { status }),
});

const settings = (spec: object, name = 'cluster') => ({
  apiVersion: 'operator.openshift.io/v1',
  kind: 'MachineConfiguration',
  metadata: { name },
  spec,
});

const image = (url: string, metadata: object = {}) => ({
  apiVersion: 'metal3.io/v1alpha1',
  kind: 'DataImage',
  metadata: { name: 'host-0', namespace: 'default', ...metadata },
  spec: { url },
});

const owner = { apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'u' };

export const acceptedObjects: Verdict[] = [
  ['a MachineConfig without a spec', config({})],
  [
    'any field below spec.config that Ignition ignores',
    config({ spec: { config: { ignition: { version: '3.4.0', x: 1 } } } }),
  ],
  ['labels that are empty or null', config({}, { labels: { a: '', b: null }, annotations: null })],
  ['an annotation whose domain has capitals', config({}, { annotations: { 'Example.com/a': 'any text\n' } })],
  ['a namespace where there is none', config({}, { namespace: 'default' })],
  [
    'finalizers and an owner',
    config({}, { finalizers: ['a', 'example.com/b'], ownerReferences: [{ ...owner, controller: true }] }),
  ],
  ['the kernel type default, and an empty one', config({ spec: { kernelType: '' } })],
  ['known extensions', config({ spec: { extensions: ['usbguard', 'kerberos'] } })],
  [
    'a file with mode 0, one with 511 and one without',
    withFiles({ path: '/etc/a', mode: 0 }, { path: '/etc/b', mode: 511 }, { path: '/etc/c', mode: null }),
  ],
  ['a status that does not fit: it is dropped', pool({}, {}, { machineCount: 'many' })],
  [
    'a pool that excludes masters',
    pool(
      { machineConfigSelector: { matchExpressions: [{ key: ROLE_LABEL, operator: 'NotIn', values: ['master'] }] } },
      { name: 'infra' },
    ),
  ],
  ['a pool with its own rendered config', pool({ configuration: { name: 'rendered-worker-a' } })],
  ['settings', settings({ nodeDisruptionPolicy: { files: [{ path: '/etc/a', actions: [{ type: 'None' }] }] } })],
  ['an ISO', image('https://isos.example.com/a.iso?x=1#y')],
  ['an ISO at an address', image('http://[2001:db8::1]:8080/a.iso')],
  ['an ISO restored from a backup', image('http://a/b', { annotations: { 'slipway.dev/data-image': '{"of":"x"}' } })],
];

export const refusedObjects: Verdict[] = [
  ['an abbreviated field', config({ spec: { kernelArgs: ['a'] } })],
  [
    'a field at the wrong level, one of metadata and a null',
    config({ kernelArguments: [], spec: { x: null } }, { label: {} }),
  ],
  ['a status of a kind without one', config({ status: {} })],
  [
    'an unknown field of an owner and of managedFields',
    config({}, { ownerReferences: [{ ...owner, x: 1 }], managedFields: [{ y: 1 }] }),
  ],
  ['an unknown field of the status', pool({}, {}, { conditions: [{ x: 1 }] })],
  ['the selector of a Deployment', pool({ selector: {} })],
  ['a misspelt policy', settings({ nodeDisruptionPolicy: { file: [] } })],
  [
    'an unknown field of a list',
    settings({ nodeDisruptionPolicy: { files: [{ path: '/etc/a', actions: [{ type: 'None', x: 1 }] }] } }),
  ],
  ['no name', config({}, { name: '' })],
  ['a name with capitals', config({}, { name: 'My_Config' })],
  ['a name with an empty part', config({}, { name: 'a..b' })],
  ['a name that is too long', config({}, { name: 'a'.repeat(254) })],
  ['a name that is a number', config({}, { name: 98 })],
  ['metadata that is a list', { ...config({}), metadata: [] }],
  ['a bad prefix of names', config({}, { generateName: 'B_' })],
  ['a label that is a number', config({}, { labels: { a: 1 } })],
  ['a label with a space', config({}, { labels: { a: 'x y' } })],
  ['a long label', config({}, { labels: { a: LONG } })],
  ['a label key without a name', config({}, { labels: { 'a/': '' } })],
  ['a label key without a domain', config({}, { labels: { '/a': '' } })],
  ['a label key with two slashes', config({}, { labels: { 'a/b/c': '' } })],
  ['a label key whose domain has capitals', config({}, { labels: { 'A/b': '' } })],
  ['a long label key', config({}, { labels: { [LONG]: '' } })],
  ['an annotation key with a space', config({}, { annotations: { 'x y': '' } })],
  ['annotations over 256 KiB', config({}, { annotations: { a: 'é'.repeat(131_072) } })],
  ['a bad finalizer', config({}, { finalizers: ['a b/c'] })],
  ['finalizers that contradict each other', config({}, { finalizers: ['orphan', 'foregroundDeletion'] })],
  ['an owner without a UID', config({}, { ownerReferences: [{ ...owner, uid: '' }] })],
  ['an owner with a bad version', config({}, { ownerReferences: [{ ...owner, apiVersion: 'a/b/c' }] })],
  ['an Event as owner', config({}, { ownerReferences: [{ ...owner, kind: 'Event' }] })],
  [
    'two controllers',
    config(
      {},
      {
        ownerReferences: [
          { ...owner, controller: true },
          { ...owner, uid: 'v', controller: true },
        ],
      },
    ),
  ],
  ['a time that is none', config({}, { creationTimestamp: 'today' })],
  ['a bad namespace', image('http://a/b', { namespace: 'A.b' })],
  ['a field of the wrong type', config({ spec: { kernelType: 5 } })],
  ['a kernel that does not exist', config({ spec: { kernelType: 'rt' } })],
  ['an extension that does not exist', config({ spec: { extensions: ['usbguard', 'zsh'] } })],
  ['a decimal mode that was meant as octal', withFiles({ path: '/etc/a' }, { path: '/etc/b', mode: 644 })],
  ['a mode in quotes', withFiles({ path: '/etc/a', mode: '0644' })],
  ['a negative mode', withFiles({ path: '/etc/a', mode: -1 })],
  ['a mode with a fraction', withFiles({ path: '/etc/a', mode: 420.5 })],
  ['the name of a rendered config', config({}, { name: 'rendered-worker-a' })],
  ['the label of a rendered config', config({}, { labels: { [poolLabel]: 'worker' } })],
  ['the label of a built-in config', config({}, { labels: { [builtInLabel]: '' } })],
  ['a custom pool without the role worker', pool({ machineConfigSelector: role('infra') }, { name: 'infra' })],
  ['a custom pool whose selector is empty', pool({ machineConfigSelector: {} }, { name: 'infra' })],
  [
    'a standard pool whose selector is empty',
    pool({ machineConfigSelector: { matchLabels: {}, matchExpressions: [] } }),
  ],
  ['a pool with a target', pool({}, { annotations: { [targetConfigAnnotation]: 'rendered-worker-a' } })],
  ['a pool with a recorded stream', pool({}, { annotations: { [osStreamAnnotation]: 'rhel-9' } })],
  ['a pool with the config of another pool', pool({ configuration: { name: 'rendered-worker-gpu-a' } })],
  ['a second MachineConfiguration', settings({}, 'mine')],
  [
    'a MachineConfigNode',
    {
      apiVersion: `${GROUP}/v1`,
      kind: 'MachineConfigNode',
      metadata: { name: 'a' },
      spec: { node: { name: 'a' }, pool: { name: 'worker' }, configVersion: { desired: 'rendered-worker-a' } },
    },
  ],
  ['an ISO without a scheme', image('isos.example.com/a.iso')],
  ['an ISO with a password', image('https://user:secret@isos.example.com/a.iso')],
  ['an ISO without a host', image('https:///a.iso')],
  ['an ISO with a space', image('https://isos.example.com/a b.iso')],
  ['an ISO with a bad escape', image('https://isos.example.com/%zz')],
  ['an ISO with a port that is none', image('https://isos.example.com:x/a')],
  ['an ISO at the metadata service', image('http://169.254.169.254/a')],
  ['an ISO at a link-local address of IPv6', image('http://[fe80::1]/a')],
  ['an ISO whose URL is too long', image(`http://a/${'b'.repeat(2048)}`)],
  ['an ISO in use', image('http://a/b', { annotations: { 'slipway.dev/data-image': 'x' } })],
];
