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
        `must be a whole unit name such as crio.service: it must end with one of ${unitTypes.map((type) => `.${type}`).join(', ')}`,
      ),
      matching(
        '^[a-zA-Z0-9:._\\\\-]+\\..',
        "must have a name before the unit type, made of letters, digits, ':', '-', '_', '.' and '\\'",
      ),
    ],
  });

const actionTypes = ['Reboot', 'Drain', 'Reload', 'Restart', 'DaemonReload', 'None'] as const;

/** What a policy can ask for. */
export type DisruptionAction = (typeof actionTypes)[number];

const EXPLANATION =
  'What to do: None, Drain (move the pods away), Reload or Restart a unit, DaemonReload (let systemd read its units again) or Reboot.';

/** What users may ask for. */
const wantedAction = choice(actionTypes, EXPLANATION);

/** What may be in force: also what is built in. */
const actionInForce = choice(
  [...actionTypes, 'Special'],
  `${EXPLANATION} Special is built in: what happens depends on the change.`,
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
    'What to do on the node once the change is on its disk, in this order.',
    object(
      undefined,
      {
        type,
        reload: optional(unit('The unit to reload. For type Reload.')),
        restart: optional(unit('The unit to restart. For type Restart.')),
      },
      { rules: [unionMember('type', 'Reload', 'reload'), unionMember('type', 'Restart', 'restart')] },
    ),
    {
      maxItems: 10,
      rules: [
        standsAlone('Reboot', 'a reboot makes every other action pointless'),
        standsAlone('None', 'it says that nothing else is done'),
      ],
    },
  );

const policy = <Type extends string>(type: TUnsafe<Type>, maxItems: number) => ({
  files: optional(
    listMap(
      'What to do when a file changes. The entry with the longest path that is the file or a directory above it counts.',
      object(undefined, {
        path: text('Path of the file, or of a directory for every file below it.'),
        actions: actions(type),
      }),
      ['path'],
      { maxItems },
    ),
  ),
  units: optional(
    listMap(
      'What to do when a systemd unit changes.',
      object(undefined, { name: systemdUnitName('Full name of the unit.'), actions: actions(type) }),
      ['name'],
      { maxItems },
    ),
  ),
  sshkey: optional(object('What to do when the ssh keys of the user core change.', { actions: actions(type) })),
});

export const nodeDisruptionPolicy = object(
  'What a change of a file, a unit or an ssh key costs a node. A change that no entry covers costs a reboot, as do changes of the OS, kernel and extensions.',
  policy(wantedAction, 50),
);

export const nodeDisruptionPolicyStatus = object('The node disruption policy in force.', {
  clusterPolicies: optional(
    object('The built-in entries, and over them those of spec.nodeDisruptionPolicy.', policy(actionInForce, 100)),
  ),
});
