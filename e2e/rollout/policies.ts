// What a node disruption policy says of a kind of change is done, and nothing else.
import { machineConfigurations, nodeAnnotations, rolloutPolicyAnnotations } from '@slipway/api';
import type { NodeDisruptionPolicy } from '@slipway/fleet';
import { ignitionConfig, type MachineConfigSpec, specWithFile } from '@slipway/testing/builders';
import { expect } from 'vitest';
import { currentOf, type RolloutScene, stateOf } from './rollout-scene.ts';

type Action = NonNullable<NodeDisruptionPolicy['sshkey']>['actions'][number];

interface PolicyKind {
  readonly name: string;
  policy(this: void, action: Action): NodeDisruptionPolicy;
  change(this: void, text: string): MachineConfigSpec;
}

const UNIT = 'app.service';
const unitNamed = (name: string, text: string): MachineConfigSpec => ({
  config: ignitionConfig({ systemd: { units: [{ name, enabled: true, contents: unitText(text) }] } }),
});
const unitText = (text: string): string =>
  `[Unit]\nDescription=${text}\n[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n`;

export const policyActions: readonly Action[] = [
  { type: 'None' },
  { type: 'Drain' },
  { type: 'Reload', reload: { serviceName: UNIT } },
  { type: 'Restart', restart: { serviceName: UNIT } },
  { type: 'DaemonReload' },
  { type: 'Reboot' },
];

export const policyKinds: readonly PolicyKind[] = [
  {
    name: 'files',
    policy: (action) => ({ files: [{ path: '/etc/app.conf', actions: [action] }] }),
    change: (text) => specWithFile('/etc/app.conf', text),
  },
  {
    name: 'directories',
    policy: (action) => ({ files: [{ path: '/etc/app.d', actions: [action] }] }),
    change: (text) => specWithFile('/etc/app.d/inside', text),
  },
  {
    name: 'units',
    policy: (action) => ({ units: [{ name: 'side.service', actions: [action] }] }),
    change: (text) => unitNamed('side.service', text),
  },
  {
    name: 'ssh keys',
    policy: (action) => ({ sshkey: { actions: [action] } }),
    change: (text) => ({
      config: ignitionConfig({
        passwd: { users: [{ name: 'core', sshAuthorizedKeys: [`ssh-ed25519 AAAA ${text}`] }] },
      }),
    }),
  },
];

/** All workers at once, with the unit that actions are about. Resolves to the pool's new rendered config. */
export async function prepareForPolicies(scene: RolloutScene): Promise<string> {
  const spec = { managementState: 'Managed' } as const;
  await scene.client.create(machineConfigurations, { metadata: { name: 'cluster' }, spec });
  const annotations = { [rolloutPolicyAnnotations.waves]: '100%' };
  await scene.patchPool('worker', { metadata: { annotations }, spec: { maxUnavailable: 2 } });
  return scene.apply('50-app', 'worker', unitNamed(UNIT, 'base'));
}

/** Changes something of the kind on two workers. Resolves to the pool's new rendered config. */
export async function expectPolicyActions(scene: RolloutScene, kind: PolicyKind, action: Action): Promise<string> {
  const name = scene.machines.names().find((each) => each.startsWith('worker-')) ?? '';
  const body = { spec: { nodeDisruptionPolicy: kind.policy(action) } };
  await scene.client.patch(machineConfigurations, { name: 'cluster' }, { type: 'merge', body }, {});
  const before = await scene.node(name);
  const doneBefore = await listDone(scene, name);
  const config = await scene.apply(`51-${kind.name.replace(' ', '-')}`, 'worker', kind.change(action.type));
  await scene.updated('worker', config, 2);

  const after = await scene.node(name);
  const boots = action.type === 'Reboot';
  expect(after.status?.nodeInfo?.bootID !== before.status?.nodeInfo?.bootID).toBe(boots);
  const wasDrained = after.metadata.annotations?.[nodeAnnotations.lastAppliedDrain] === `uncordon-${config}`;
  expect(wasDrained).toBe(boots || action.type === 'Drain');
  // A boot begins a new list.
  expect(await listDone(scene, name)).toEqual(boots ? [] : [...doneBefore, ...listCommands(action)]);
  expect(stateOf(after)).toBe('Done');
  expect(currentOf(after)).toBe(config);
  return config;
}

/** What the machine is told to do, in its own words. */
function listCommands({ type }: Action): string[] {
  switch (type) {
    case 'Reload':
      return [`reload ${UNIT}`];
    case 'Restart':
      return [`restart ${UNIT}`];
    case 'DaemonReload':
      return ['daemon-reload'];
    default:
      return [];
  }
}

async function listDone(scene: RolloutScene, name: string): Promise<string[]> {
  const text = (await scene.file(name, 'run/slipway-simulated/done')) ?? '';
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
