import { machineConfigurationKind, validate } from '@slipway/api';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { file, ignition, withFiles } from '../render/testing/sample.ts';
import { type ClusterPolicies, computeClusterPolicies, type NodeDisruptionPolicy, rulingForFile } from './policy.ts';
import { actionsIn, plan, rewritten, type Spec } from './testing/sample-plan.ts';

type Actions = NonNullable<NodeDisruptionPolicy['sshkey']>['actions'];

const none: Actions = [{ type: 'None' }];
const reboot: Actions = [{ type: 'Reboot' }];
const restart = (unit: string): Actions => [{ type: 'Restart', restart: { serviceName: unit } }];
const reload = (unit: string): Actions => [{ type: 'Reload', reload: { serviceName: unit } }];
const files = (entries: Record<string, Actions>): NodeDisruptionPolicy => {
  return { files: Object.entries(entries).map(([path, actions]) => ({ path, actions })) };
};

const withUnit = (unit: object): Spec => ({ config: ignition({ systemd: { units: [unit] } }) });
const withCore = (core: object): Spec => ({ config: ignition({ passwd: { users: [{ name: 'core', ...core }] } }) });
const unitRewritten: [Spec, Spec] = [
  withUnit({ name: 'a.service', contents: '[Unit]\n' }),
  withUnit({ name: 'a.service', contents: '[Unit]\nAfter=b.service\n' }),
];
const dropInAdded: [Spec, Spec] = [{}, withUnit({ name: 'a.service', dropins: [{ name: 'x.conf', contents: '' }] })];
const keyAdded: [Spec, Spec] = [{}, withCore({ sshAuthorizedKeys: ['ssh-ed25519 A'] })];
const passwordSet: [Spec, Spec] = [{}, withCore({ passwordHash: '$6$x' })];
const CA = '/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt';
const REGISTRIES = '/etc/containers/registries.conf';
const mirror = (name: string) => `[[registry.mirror]]\nlocation = "${name}"\npull-from-mirror = "digest-only"\n`;
const registries = (...mirrors: string[]): Spec =>
  withFiles(file(REGISTRIES, `[[registry]]\nlocation = "quay.io"\n${mirrors.map(mirror).join('')}`));

describe('without a user policy', () => {
  it.each<[string, [Spec, Spec], string[]]>([
    ['a file costs a reboot', rewritten('/etc/a'), ['Reboot']],
    ['a removed file costs a reboot', [withFiles(file('/etc/a', 'x')), {}], ['Reboot']],
    [
      'a new mode costs a reboot',
      [withFiles(file('/a', 'x')), withFiles(file('/a', 'x', { mode: 0o600 }))],
      ['Reboot'],
    ],
    ['a unit costs a reboot', unitRewritten, ['Reboot']],
    ['a drop-in costs a reboot', dropInAdded, ['Reboot']],
    ['ssh keys cost nothing', keyAdded, []],
    ['a password costs nothing', passwordSet, []],
    ['the pull secret costs nothing', rewritten('/var/lib/kubelet/config.json'), []],
    ['files for the first boot cost nothing', rewritten('/etc/nmstate/openshift/cluster.yml'), []],
    ['the image policy reloads CRI-O', rewritten('/etc/containers/policy.json'), ['Reload crio.service']],
    ['registries.d reloads CRI-O', rewritten('/etc/containers/registries.d/a.yaml'), ['Reload crio.service']],
    ['policies of namespaces reload CRI-O', rewritten('/etc/crio/policies/a.json'), ['Reload crio.service']],
    [
      'the GPG key of images reloads CRI-O',
      rewritten('/etc/machine-config-daemon/no-reboot/containers-gpg.pub'),
      ['Reload crio.service'],
    ],
    ['another file next to that key costs a reboot', rewritten('/etc/machine-config-daemon/no-reboot/x'), ['Reboot']],
    [
      'the users’ CA restarts what reads it',
      rewritten(CA),
      ['Restart coreos-update-ca-trust.service', 'Restart crio.service'],
    ],
    [
      'credential providers restart the kubelet',
      rewritten('/etc/kubernetes/credential-providers/a.yaml'),
      ['Restart kubelet.service'],
    ],
    ['added mirrors reload CRI-O', [registries('a'), registries('a', 'b')], ['Reload crio.service']],
    [
      'removed mirrors drain and reload CRI-O',
      [registries('a', 'b'), registries('a')],
      ['Drain', 'Reload crio.service'],
    ],
    ['registries.conf where there was none drains', [{}, registries('a')], ['Drain', 'Reload crio.service']],
    [
      'another mode of registries.conf does not drain',
      [
        registries('a'),
        withFiles(file(REGISTRIES, `[[registry]]\nlocation = "quay.io"\n${mirror('a')}`, { mode: 0o600 })),
      ],
      ['Reload crio.service'],
    ],
    ['an OS image costs a reboot', [{ osImageURL: 'os:1' }, { osImageURL: 'os:2' }], ['Reboot']],
    ['a kernel argument costs a reboot', [{}, { kernelArguments: ['nosmt'] }], ['Reboot']],
    ['a kernel costs a reboot', [{}, { kernelType: 'realtime' }], ['Reboot']],
    ['an extension costs a reboot', [{}, { extensions: ['usbguard'] }], ['Reboot']],
    ['FIPS costs a reboot', [{}, { fips: true }], ['Reboot']],
    ['an unused extensions image costs nothing', [{}, { baseOSExtensionsContainerImage: 'e:1' }], []],
    [
      'the extensions image of the kernel costs a reboot',
      [{ kernelType: 'realtime' }, { kernelType: 'realtime', baseOSExtensionsContainerImage: 'e:1' }],
      ['Reboot'],
    ],
    [
      'the extensions image of an extension costs a reboot',
      [{ extensions: ['usbguard'] }, { extensions: ['usbguard'], baseOSExtensionsContainerImage: 'e:1' }],
      ['Reboot'],
    ],
  ])('%s', async (_, [current, desired], actions) => {
    expect(actionsIn(await plan(current, desired))).toEqual(actions);
  });
});

describe('with a user policy', () => {
  it.each<[string, [Spec, Spec], NodeDisruptionPolicy, string[]]>([
    [
      'an entry for the file counts',
      rewritten('/etc/a'),
      files({ '/etc/a': restart('a.service') }),
      ['Restart a.service'],
    ],
    ['an entry for a directory above counts', rewritten('/etc/a/b/c'), files({ '/etc/a': none }), []],
    ['also with a trailing slash', rewritten('/etc/a/b'), files({ '/etc/a/': none }), []],
    ['an entry for the root covers every file', rewritten('/etc/a'), files({ '/': none }), []],
    ['a path with only the same prefix does not count', rewritten('/etc/ab'), files({ '/etc/a': none }), ['Reboot']],
    ['the longest path counts', rewritten('/etc/a/b'), files({ '/etc': reboot, '/etc/a': none, '/': reboot }), []],
    [
      'a user’s entry replaces the built-in one with the same path',
      rewritten('/etc/containers/policy.json'),
      files({ '/etc/containers/policy.json': none }),
      [],
    ],
    [
      'also the one for registries.conf',
      [registries('a'), {}],
      files({ [REGISTRIES]: reload('crio.service') }),
      ['Reload crio.service'],
    ],
    [
      'a longer built-in entry wins over a user’s',
      rewritten('/etc/containers/policy.json'),
      files({ '/etc/containers': none }),
      ['Reload crio.service'],
    ],
    [
      'a user’s longer entry wins over a built-in one',
      rewritten('/etc/containers/registries.d/a'),
      files({ '/etc/containers/registries.d/a': none }),
      [],
    ],
    [
      'an entry for the unit counts',
      unitRewritten,
      { units: [{ name: 'a.service', actions: [{ type: 'DaemonReload' }, ...restart('a.service')] }] },
      ['DaemonReload', 'Restart a.service'],
    ],
    ['and for its drop-ins', dropInAdded, { units: [{ name: 'a.service', actions: none }] }, []],
    ['an entry for a file does not cover a unit', unitRewritten, files({ '/etc/systemd': none }), ['Reboot']],
    ['an entry for ssh keys counts', keyAdded, { sshkey: { actions: [{ type: 'Drain' }] } }, ['Drain']],
    ['and for the password', passwordSet, { sshkey: { actions: reboot } }, ['Reboot']],
    ['no entry prevents a reboot for the kernel', [{}, { kernelArguments: ['a'] }], files({ '/': none }), ['Reboot']],
    [
      'one file without an entry is enough for a reboot',
      [{}, withFiles(file('/a', ''), file('/b', ''))],
      files({ '/a': none }),
      ['Reboot'],
    ],
  ])('%s', async (_, [current, desired], policy, actions) => {
    expect(actionsIn(await plan(current, desired, policy))).toEqual(actions);
  });
});

const builtInPaths = [
  '/var/lib/kubelet/config.json',
  '/etc/machine-config-daemon/no-reboot/containers-gpg.pub',
  '/etc/containers/policy.json',
  REGISTRIES,
  '/etc/containers/registries.d',
  '/etc/crio/policies',
  '/etc/nmstate/openshift',
  CA,
  '/etc/kubernetes/credential-providers',
];

describe('the policy in effect', () => {
  const pathsOf = (policy: NodeDisruptionPolicy) => computeClusterPolicies(policy).files?.map(({ path }) => path);

  it('is the built-in one without a user policy', () => {
    const policies = computeClusterPolicies({});
    expect(pathsOf({})).toEqual(builtInPaths);
    expect(policies.files).toContainEqual({ path: '/var/lib/kubelet/config.json', actions: none });
    expect(policies.files).toContainEqual({ path: REGISTRIES, actions: [{ type: 'Special' }] });
    expect(policies.files).toContainEqual({
      path: CA,
      actions: [...restart('coreos-update-ca-trust.service'), ...restart('crio.service')],
    });
    expect(policies).toMatchObject({ units: [], sshkey: { actions: none } });
  });

  it.each<[string, NodeDisruptionPolicy, Partial<ClusterPolicies>]>([
    [
      'a unit',
      { units: [{ name: 'a.service', actions: reboot }] },
      { units: [{ name: 'a.service', actions: reboot }] },
    ],
    ['ssh keys', { sshkey: { actions: reboot } }, { sshkey: { actions: reboot } }],
    ['ssh keys without an action, which counts as none', { sshkey: { actions: [] } }, { sshkey: { actions: none } }],
  ])('has the user’s entry for %s', (_, policy, expected) => {
    expect(computeClusterPolicies(policy)).toMatchObject(expected);
  });

  it.each([REGISTRIES, `${REGISTRIES}/`])('has the user’s entry for %s instead of the built-in one', (path) => {
    expect(pathsOf(files({ [path]: reboot, '/etc/a': none }))).toEqual([
      ...builtInPaths.filter((each) => each !== REGISTRIES),
      path,
      '/etc/a',
    ]);
  });

  it('is what decides about any file, and what the API accepts', () => {
    const path = fc.constantFrom('/', '/etc/a', '/etc/a/', '/etc/a/b', '/etc/containers', ...builtInPaths);
    const actions = fc.constantFrom(none, reboot, reload('a.service'), restart('a.service'));
    const entries = fc.uniqueArray(fc.record({ path, actions }), {
      selector: (entry) => entry.path.replace(/\/$/, ''),
    });
    const changed = fc.constantFrom('/etc/a/b/c', '/etc/x', '/etc/containers/registries.d/a', ...builtInPaths);
    fc.assert(
      fc.property(entries, changed, fc.boolean(), (user, item, addsMirrorsOnly) => {
        const clusterPolicies = computeClusterPolicies({ files: user });
        const [longest] = (clusterPolicies.files ?? [])
          .map(({ path: written }) => ({ written, below: written.replace(/\/$/, '') }))
          .filter(({ below }) => item === below || item.startsWith(`${below}/`))
          .sort((a, b) => b.below.length - a.below.length);
        const found = rulingForFile(item, { files: user }, () => addsMirrorsOnly);
        expect(found.rule === 'nothing' ? undefined : found.entry).toBe(longest?.written);
        expect(
          validate(machineConfigurationKind, {
            apiVersion: 'operator.openshift.io/v1',
            kind: 'MachineConfiguration',
            metadata: { name: 'cluster' },
            spec: { nodeDisruptionPolicy: { files: user } },
            status: { nodeDisruptionPolicyStatus: { clusterPolicies } },
          }),
        ).toMatchObject({ ok: true });
      }),
    );
  });
});

describe('the causes of a plan', () => {
  it('name for each item the entry that applies', async () => {
    const current = withFiles(file('/etc/a', ''), file('/etc/b', ''), file('/etc/containers/policy.json', ''));
    const { causes } = await plan(current, { kernelArguments: ['x'] }, files({ '/etc/a': restart('a.service') }));
    expect(causes).toEqual([
      {
        item: { kind: 'file', name: '/etc/a' },
        actions: [{ type: 'Restart', unit: 'a.service' }],
        rule: 'user',
        entry: '/etc/a',
        because: 'the spec.nodeDisruptionPolicy entry for /etc/a',
      },
      {
        item: { kind: 'file', name: '/etc/b' },
        actions: [{ type: 'Reboot' }],
        rule: 'nothing',
        entry: '',
        because: 'no node disruption policy entry covers /etc/b',
      },
      {
        item: { kind: 'file', name: '/etc/containers/policy.json' },
        actions: [{ type: 'Reload', unit: 'crio.service' }],
        rule: 'default',
        entry: '/etc/containers/policy.json',
        because: 'the built-in entry for /etc/containers/policy.json',
      },
      {
        item: { kind: 'machine setting', name: 'kernelArguments' },
        actions: [{ type: 'Reboot' }],
        rule: 'always',
        entry: '',
        because: 'a change of kernelArguments always requires a reboot, whatever the policy is',
      },
    ]);
  });

  it('count a unit with several drop-ins as one item', async () => {
    const dropins = ['a.conf', 'b.conf'].map((name) => ({ name, contents: '' }));
    const { causes } = await plan({}, withUnit({ name: 'a.service', enabled: true, contents: '[Unit]\n', dropins }));
    expect(causes.map(({ item }) => item)).toEqual([{ kind: 'unit', name: 'a.service' }]);
  });
});
