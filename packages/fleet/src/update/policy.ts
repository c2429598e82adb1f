// What changes cost where the users' policy says nothing: the entries that fleets of this kind have always had.
import type { MachineConfiguration } from '@slipway/api';
import type { Cause, NodeAction } from './update-plan.ts';

/** `depends`: it is for `registriesActions` to look at what changed. */
export interface DefaultFileEntry {
  readonly path: string;
  readonly actions: readonly NodeAction[] | 'depends';
}

const RELOAD_CRIO: NodeAction = { type: 'Reload', unit: 'crio.service' };

export const REGISTRIES_PATH = '/etc/containers/registries.conf';

const DEFAULT_FILES: readonly DefaultFileEntry[] = [
  // The kubelet reads its pull secret anew for each pull.
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

/** Pods that run keep their images; those that start could find another one by the same tag, or none. */
function registriesActions(addsMirrorsOnly: boolean): readonly NodeAction[] {
  return addsMirrorsOnly ? [RELOAD_CRIO] : [{ type: 'Drain' }, RELOAD_CRIO];
}

// Which entry of the node disruption policy an item falls under, and what it asks for.

/** The users' part: `spec.nodeDisruptionPolicy` of the MachineConfiguration. */
export type NodeDisruptionPolicy = NonNullable<MachineConfiguration['spec']['nodeDisruptionPolicy']>;

type PolicyAction = NonNullable<NodeDisruptionPolicy['sshkey']>['actions'][number];

export type Ruling = Omit<Cause, 'item'>;

const REBOOT: readonly NodeAction[] = [{ type: 'Reboot' }];

export function alwaysReboots(because: string): Ruling {
  return { actions: REBOOT, rule: 'always', entry: '', because };
}

/**
 * The entry with the longest path that is the file or a directory above it; of two with the same path, the user's. So a
 * user's entry for a directory does not end a built-in one for a file in it: for that, it takes an entry for the file.
 */
export function rulingForFile(path: string, policy: NodeDisruptionPolicy, addsMirrorsOnly: () => boolean): Ruling {
  const entry = fileEntries(policy)
    .filter((each) => each.path === path || path.startsWith(`${each.path}/`))
    .reduce<FileEntry | null>((best, each) => (best === null || isBefore(each, best) ? each : best), null);
  if (entry === null) return unmatched(`no entry of the node disruption policy covers the file ${path}`);
  const { actions, rule } = entry;
  if (actions !== 'depends') return ruling(actions, rule, entry.written, `${describeRule(rule)} for ${entry.written}`);
  const isHarmless = addsMirrorsOnly();
  const what = isHarmless ? 'only mirrors asked by digest were added' : 'more than mirrors asked by digest changed';
  return ruling(
    registriesActions(isHarmless),
    rule,
    entry.written,
    `${describeRule(rule)} for ${entry.written}: ${what}`,
  );
}

export function rulingForUnit(unit: string, policy: NodeDisruptionPolicy): Ruling {
  const entry = policy.units?.find(({ name }) => name === unit);
  if (entry === undefined) return unmatched(`no entry of the node disruption policy covers the unit ${unit}`);
  return ruling(toNodeActions(entry.actions), 'user', unit, `${describeRule('user')} for ${unit}`);
}

/** Also for the password: both are about who may log in, and no program has to be told of either. */
export function rulingForSshKey(policy: NodeDisruptionPolicy): Ruling {
  const actions = policy.sshkey?.actions ?? [];
  if (actions.length === 0)
    return ruling(DEFAULT_SSH_KEY, 'default', 'sshkey', `${describeRule('default')} for sshkey`);
  return ruling(toNodeActions(actions), 'user', 'sshkey', `${describeRule('user')} for sshkey`);
}

interface FileEntry {
  /** Without slashes at the end, so that '' is the root. */
  readonly path: string;
  /** As it stands in the policy. */
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
  return { path: written.replace(/\/+$/, ''), written, rule, actions };
}

/** In an order that does not depend on that of the entries. */
function isBefore(a: FileEntry, b: FileEntry): boolean {
  if (a.path.length !== b.path.length) return a.path.length > b.path.length;
  if (a.rule !== b.rule) return a.rule === 'user';
  return a.written < b.written;
}

function toNodeActions(actions: readonly PolicyAction[]): NodeAction[] {
  return actions.flatMap(expandAction);
}

/** What lacks its unit the API server would not have taken; to reboot is the safe reading. */
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

function ruling(actions: readonly NodeAction[], rule: Ruling['rule'], entry: string, because: string): Ruling {
  return { actions, rule, entry, because };
}

function unmatched(because: string): Ruling {
  return ruling(REBOOT, 'nothing', '', because);
}

function describeRule(rule: 'user' | 'default'): string {
  return rule === 'user' ? 'the entry of spec.nodeDisruptionPolicy' : 'the built-in entry';
}
