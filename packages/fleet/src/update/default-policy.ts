// What changes cost where the users' policy says nothing: the entries that fleets of this kind have always had.
import type { NodeAction } from './update-plan.ts';

/** `depends`: it is for `registriesActions` to look at what changed. */
export interface DefaultFileEntry {
  readonly path: string;
  readonly actions: readonly NodeAction[] | 'depends';
}

const RELOAD_CRIO: NodeAction = { type: 'Reload', unit: 'crio.service' };

export const REGISTRIES_PATH = '/etc/containers/registries.conf';

export const DEFAULT_FILES: readonly DefaultFileEntry[] = [
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

export const DEFAULT_SSH_KEY: readonly NodeAction[] = [];

/** Pods that run keep their images; those that start could find another one by the same tag, or none. */
export function registriesActions(addsMirrorsOnly: boolean): readonly NodeAction[] {
  return addsMirrorsOnly ? [RELOAD_CRIO] : [{ type: 'Drain' }, RELOAD_CRIO];
}
