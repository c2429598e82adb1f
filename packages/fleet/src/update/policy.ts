// The built-in disruption policy, for changes that the users' policy does not cover: the entries that users know.
import type { MachineConfiguration } from '@slipway/api';
import type { Cause, NodeAction } from './update-plan.ts';

/** `depends`: `registriesActions` decides from what changed. */
export interface DefaultFileEntry {
  readonly path: string;
  readonly actions: readonly NodeAction[] | 'depends';
}

const RELOAD_CRIO: NodeAction = { type: 'Reload', unit: 'crio.service' };

export const REGISTRIES_PATH = '/etc/containers/registries.conf';

const DEFAULT_FILES: readonly DefaultFileEntry[] = [
  // The kubelet reads its pull secret again for each pull.
  { path: '/var/lib/kubelet/config.json', actions: [] },
  { path: '/etc/machine-config-daemon/no-reboot/containers-gpg.pub', actions: [RELOAD_CRIO] },
  { path: '/etc/containers/policy.json', actions: [RELOAD_CRIO] },
  { path: REGISTRIES_PATH, actions: 'depends' },
  { path: '/etc/containers/registries.d', actions: [RELOAD_CRIO] },
  { path: '/etc/crio/policies', actions: [RELOAD_CRIO] },
  // Only read at the first boot.
  { path: '/etc/nmstate/openshift', actions: [] },
  {
    path: '/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt',
    actions: [
      { type: 'Restart', unit: 'coreos-update-ca-trust.service' },
      { type: 'Restart', unit: 'crio.service' },
    ],
  },
  { path: '/etc/kubernetes/credential-providers', actions: [{ type: 'Restart', unit: 'kubelet.service' }] },
];

const DEFAULT_SSH_KEY: readonly NodeAction[] = [];

/** Running pods keep their images. A pod that starts could get another image for the same tag, or none. */
function registriesActions(addsMirrorsOnly: boolean): readonly NodeAction[] {
  return addsMirrorsOnly ? [RELOAD_CRIO] : [{ type: 'Drain' }, RELOAD_CRIO];
}

// Which node disruption policy entry applies to an item, and its actions.

/** The users' policy: `spec.nodeDisruptionPolicy` of the MachineConfiguration. */
export type NodeDisruptionPolicy = NonNullable<MachineConfiguration['spec']['nodeDisruptionPolicy']>;

type PolicyAction = NonNullable<NodeDisruptionPolicy['sshkey']>['actions'][number];

export type Ruling = Omit<Cause, 'item'>;

const REBOOT: readonly NodeAction[] = [{ type: 'Reboot' }];

export function alwaysReboots(because: string): Ruling {
  return { actions: REBOOT, rule: 'always', entry: '', because };
}

/**
 * The entry with the longest path that is the file or a directory above it; of two with the same path, the user's. So a
 * user's entry for a directory does not override a built-in one for a file in it: that needs an entry for the file.
 */
export function rulingForFile(path: string, policy: NodeDisruptionPolicy, addsMirrorsOnly: () => boolean): Ruling {
  const entry = fileEntries(policy)
    .filter((each) => each.path === path || path.startsWith(`${each.path}/`))
    .reduce<FileEntry | null>((best, each) => (best === null || isBefore(each, best) ? each : best), null);
  if (entry === null) return unmatched(`no node disruption policy entry covers ${path}`);
  const { actions, rule } = entry;
  if (actions !== 'depends') return ruling(actions, rule, entry.written, `${describeRule(rule)} for ${entry.written}`);
  const isHarmless = addsMirrorsOnly();
  const what = isHarmless ? 'only digest mirrors were added' : 'the change does more than add digest mirrors';
  return ruling(
    registriesActions(isHarmless),
    rule,
    entry.written,
    `${describeRule(rule)} for ${entry.written}: ${what}`,
  );
}

export function rulingForUnit(unit: string, policy: NodeDisruptionPolicy): Ruling {
  const entry = policy.units?.find(({ name }) => name === unit);
  if (entry === undefined) return unmatched(`no node disruption policy entry covers the unit ${unit}`);
  return ruling(toNodeActions(entry.actions), 'user', unit, `${describeRule('user')} for ${unit}`);
}

/** Also for the password: both control logins, and no service must be notified of either. */
export function rulingForSshKey(policy: NodeDisruptionPolicy): Ruling {
  const actions = policy.sshkey?.actions ?? [];
  if (actions.length === 0)
    return ruling(DEFAULT_SSH_KEY, 'default', 'sshkey', `${describeRule('default')} for sshkey`);
  return ruling(toNodeActions(actions), 'user', 'sshkey', `${describeRule('user')} for sshkey`);
}

interface FileEntry {
  /** Without trailing slashes, so '' is the root. */
  readonly path: string;
  /** As written in the policy. */
  readonly written: string;
  readonly rule: 'user' | 'default';
  readonly actions: readonly NodeAction[] | 'depends';
}

function fileEntries({ files = [] }: NodeDisruptionPolicy): FileEntry[] {
  return [
    ...files.map(({ path, actions }) => buildFileEntry(path, 'user', toNodeActions(actions))),
    ...DEFAULT_FILES.map(({ path, actions }) => buildFileEntry(path, 'default', actions)),
  ];
}

function buildFileEntry(written: string, rule: FileEntry['rule'], actions: FileEntry['actions']): FileEntry {
  return { path: trimSlashes(written), written, rule, actions };
}

const trimSlashes = (path: string): string => path.replace(/\/+$/, '');

/** Independent of the order of the entries. */
function isBefore(a: FileEntry, b: FileEntry): boolean {
  if (a.path.length !== b.path.length) return a.path.length > b.path.length;
  if (a.rule !== b.rule) return a.rule === 'user';
  return a.written < b.written;
}

function toNodeActions(actions: readonly PolicyAction[]): NodeAction[] {
  return actions.flatMap(expandAction);
}

/** The API server refuses an action without its unit; a reboot is the safe interpretation. */
function expandAction({ type, reload, restart }: PolicyAction): NodeAction[] {
  switch (type) {
    case 'None':
      return [];
    case 'Reload':
      return [reload === undefined ? { type: 'Reboot' } : { type, unit: reload.serviceName }];
    case 'Restart':
      return [restart === undefined ? { type: 'Reboot' } : { type, unit: restart.serviceName }];
    default:
      return [{ type }];
  }
}

// The policy in effect, as the status of the MachineConfiguration shows it.

type Status = NonNullable<MachineConfiguration['status']>;
export type ClusterPolicies = NonNullable<NonNullable<Status['nodeDisruptionPolicyStatus']>['clusterPolicies']>;
type ActionInForce = NonNullable<ClusterPolicies['sshkey']>['actions'][number];

/** The built-in entries that users do not override, then those of users. */
export function computeClusterPolicies({ files = [], units = [], sshkey }: NodeDisruptionPolicy): ClusterPolicies {
  const overridden = new Set(files.map(({ path }) => trimSlashes(path)));
  const builtIn = DEFAULT_FILES.filter(({ path }) => !overridden.has(path));
  return {
    files: [...builtIn.map(({ path, actions }) => ({ path, actions: toActionsInForce(actions) })), ...files],
    units,
    sshkey:
      sshkey === undefined || sshkey.actions.length === 0 ? { actions: toActionsInForce(DEFAULT_SSH_KEY) } : sshkey,
  };
}

function toActionsInForce(actions: DefaultFileEntry['actions']): ActionInForce[] {
  if (actions === 'depends') return [{ type: 'Special' }];
  return actions.length === 0 ? [{ type: 'None' }] : actions.map(toActionInForce);
}

function toActionInForce(action: NodeAction): ActionInForce {
  switch (action.type) {
    case 'Reload':
      return { type: 'Reload', reload: { serviceName: action.unit } };
    case 'Restart':
      return { type: 'Restart', restart: { serviceName: action.unit } };
    default:
      return { type: action.type };
  }
}

function ruling(actions: readonly NodeAction[], rule: Ruling['rule'], entry: string, because: string): Ruling {
  return { actions, rule, entry, because };
}

function unmatched(because: string): Ruling {
  return ruling(REBOOT, 'nothing', '', because);
}

function describeRule(rule: 'user' | 'default'): string {
  return rule === 'user' ? 'the spec.nodeDisruptionPolicy entry' : 'the built-in entry';
}
