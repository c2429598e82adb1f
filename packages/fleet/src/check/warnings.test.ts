import { ignitionConfig, machineConfig, machineConfigPool, type MachineConfigSpec } from '@slipway/testing/builders';
import { expect, it } from 'vitest';
import { checkObject } from './check-object.ts';
import { poolWarnings } from './warnings.ts';

const DIGEST = `@sha256:${'a'.repeat(64)}`;

async function warningsOn(spec: MachineConfigSpec): Promise<string[]> {
  const checked = await checkObject({
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfig',
    ...machineConfig('50-a', 'worker', spec),
  });
  return (checked?.findings ?? []).map(({ severity, field, message }) => `${severity} ${field}: ${message}`);
}

const user = (more: object) => ({ config: ignitionConfig({ passwd: { users: [{ name: 'core', ...more }] } }) });
const unit = (more: object) => ({ config: ignitionConfig({ systemd: { units: [{ name: 'a.service', ...more }] } }) });

it.each<[string, MachineConfigSpec]>([
  [
    'a public key',
    user({
      sshAuthorizedKeys: ['ssh-ed25519 AAAAC3 me', 'ssh-rsa\tAAAAB3 me', 'from="10.0.0.1" ecdsa-sha2-nistp256 AAAAE2'],
    }),
  ],
  ['a public key of a security key', user({ sshAuthorizedKeys: ['sk-ssh-ed25519@openssh.com AAAAG me', '# me'] })],
  ['a hash', user({ passwordHash: '$6$salt$hash' })],
  ['a locked password', user({ passwordHash: '!' })],
  ['a unit', unit({ contents: '# A\n[Service]\nExecStart=/bin/true\n' })],
  ['an empty drop-in', unit({ dropins: [{ name: '10-a.conf', contents: '# nothing\n' }] })],
  ['an image by digest', { osImageURL: `registry.example.com:5000/os${DIGEST}` }],
  ['an image by tag and digest', { osImageURL: `registry.example.com/team/os:1${DIGEST}` }],
])('%s has no warning', async (_, spec) => {
  expect(await warningsOn(spec)).toEqual([]);
});

it.each<[string, MachineConfigSpec, RegExp]>([
  [
    'a private key',
    user({ sshAuthorizedKeys: ['-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2'] }),
    /^warning spec\.config\.passwd\.users\[0\]\.sshAuthorizedKeys\[0\]: .*it is a private key/,
  ],
  ['a path of a key', user({ sshAuthorizedKeys: ['~/.ssh/id.pub'] }), /expected a public key/],
  ['a password', user({ passwordHash: 'hunter2' }), /passwordHash: expected a hash/],
  ['a script as unit', unit({ contents: '#!/bin/sh\necho\n' }), /units\[0\]\.contents: it has no section/],
  ['a drop-in without a section', unit({ dropins: [{ name: 'a.conf', contents: 'A=b' }] }), /dropins\[0\]\.contents/],
  ['an image by tag', { osImageURL: 'registry.example.com/os:1' }, /spec\.osImageURL: .* names no digest/],
  ['an image as a URL', { osImageURL: `https://registry.example.com/os${DIGEST}` }, /no registry serves "https/],
  ['an image without a registry', { osImageURL: `os${DIGEST}` }, /no registry serves "os@/],
])('%s is a warning, which does not show it if it is secret', async (_, spec, message) => {
  const warnings = await warningsOn(spec);
  expect(warnings).toEqual([expect.stringMatching(message)]);
  expect(warnings.join('')).not.toContain('hunter2');
});

it('a pool whose settings can be read has no warnings', () => {
  const annotations = { 'slipway.dev/rollout-waves': '1,10%' };
  expect(poolWarnings(machineConfigPool('infra', { maxUnavailable: '10%' }, annotations))).toEqual([]);
});

it.each([
  ['a limit', { maxUnavailable: 'all' }, {}, /^MachineConfigPool infra, spec\.maxUnavailable: .* one at a time$/],
  ['waves', {}, { 'slipway.dev/rollout-waves': '10,5' }, /^MachineConfigPool infra, annotation .*rollout-waves .*10,5/],
  [
    'a selector of nodes',
    { nodeSelector: { matchExpressions: [{ key: 'a', operator: 'exists' }] } },
    {},
    /^MachineConfigPool infra, spec\.nodeSelector\.matchExpressions\[0\]\.operator: .* the pool has no nodes$/,
  ],
])('%s that the controllers cannot read is a warning', (_, spec, annotations, message) => {
  expect(poolWarnings(machineConfigPool('infra', spec, annotations))).toEqual([
    expect.objectContaining({ severity: 'warning', message: expect.stringMatching(message) }),
  ]);
});
