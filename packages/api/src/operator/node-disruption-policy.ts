import type { TUnsafe } from 'typebox';
import { atomicList, choice, listMap, matching, unionMember, object, optional, type Rule, text } from '../schema.ts';

const unitTypes = [
  'service',
  'socket',
  'device',
  'mount',
  'automount',
  'swap',
  'target',
  'path',
  'timer',
  'snapshot',
  'slice',
  'scope',
];

/** The full name of a systemd unit, such as crio.service. */
const systemdUnitName = (description: string) =>
  text(description, {
    maxLength: 255,
    rules: [
      matching(
        `\\.(${unitTypes.join('|')})$`,
        `must be a full unit name such as crio.service: it must end with one of ${unitTypes.map((type) => `.${type}`).join(', ')}`,
      ),
      matching(
        '^[a-zA-Z0-9:._\\\\-]+\\..',
        "must have a name before the unit type, consisting of letters, digits, ':', '-', '_', '.' and '\\'",
      ),
    ],
  });

const actionTypes = ['Reboot', 'Drain', 'Reload', 'Restart', 'DaemonReload', 'None'] as const;

export type DisruptionAction = (typeof actionTypes)[number];

const EXPLANATION =
  'Action to take: None, Drain (evict the pods), Reload or Restart a unit, DaemonReload (make systemd reload its unit files) or Reboot.';

/** What users can set. */
const wantedAction = choice(actionTypes, EXPLANATION);

/** What can be in effect, including the built-in action. */
const actionInForce = choice(
  [...actionTypes, 'Special'],
  `${EXPLANATION} Special is built in: the action depends on the change.`,
);

const unit = (description: string) =>
  object(description, { serviceName: systemdUnitName('Full name of the unit, such as crio.service.') });

const standsAlone = (type: string, why: string): Rule<{ type: string }[]> => ({
  rule: `size(self) == 1 || !self.exists(action, action.type == '${type}')`,
  message: `${type} must be the only action: ${why}`,
  holds: (self) => self.length === 1 || !self.some((action) => action.type === type),
});

const actions = <Type extends string>(type: TUnsafe<Type>) =>
  atomicList(
    'Actions to take on the node after the change is written to disk, in this order.',
    object(
      undefined,
      {
        type,
        reload: optional(unit('Unit to reload. For type Reload.')),
        restart: optional(unit('Unit to restart. For type Restart.')),
      },
      { rules: [unionMember('type', 'Reload', 'reload'), unionMember('type', 'Restart', 'restart')] },
    ),
    {
      maxItems: 10,
      rules: [
        standsAlone('Reboot', 'a reboot makes every other action pointless'),
        standsAlone('None', 'it excludes all others'),
      ],
    },
  );

const policy = <Type extends string>(type: TUnsafe<Type>, maxItems: number) => ({
  files: optional(
    listMap(
      'Actions for changes to files. The entry with the longest path that equals the file or one of its parent directories applies.',
      object(undefined, {
        path: text('Path of a file, or of a directory to cover every file below it.'),
        actions: actions(type),
      }),
      ['path'],
      { maxItems },
    ),
  ),
  units: optional(
    listMap(
      'Actions for changes to systemd units.',
      object(undefined, { name: systemdUnitName('Full name of the unit.'), actions: actions(type) }),
      ['name'],
      { maxItems },
    ),
  ),
  sshkey: optional(object('Actions for changes to the SSH keys of the user core.', { actions: actions(type) })),
});

export const nodeDisruptionPolicy = object(
  'Actions that nodes take when a file, a unit or an SSH key changes. A change without a matching entry causes a reboot, and so do changes to the OS, the kernel and extensions.',
  policy(wantedAction, 50),
);

export const nodeDisruptionPolicyStatus = object('The node disruption policy in effect.', {
  clusterPolicies: optional(
    object('The built-in entries, overridden by those in spec.nodeDisruptionPolicy.', policy(actionInForce, 100)),
  ),
});
