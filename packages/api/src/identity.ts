/** The sender of a request, as kube-apiserver authenticates it: one user, or a group except for some users. */
export type Identity = { user: string } | { group: string; except?: readonly string[] };

/** The namespace that our controllers and daemons run in, unless configured otherwise. */
export const DEFAULT_NAMESPACE = 'openshift-machine-config-operator';

/** The ServiceAccount that all daemons share. The token of each daemon names its node. */
export const DAEMON_ACCOUNT = 'machine-config-daemon';

export const daemonUser = (namespace: string): string => `system:serviceaccount:${namespace}:${DAEMON_ACCOUNT}`;

/** Our controllers. Daemons are excluded: an attacker who takes over a machine has its token. */
export const buildControllerIdentity = (namespace: string): Identity => ({
  group: `system:serviceaccounts:${namespace}`,
  except: [daemonUser(namespace)],
});

/** The Kubernetes controllers that delete the dependents of a deleted object or namespace. */
export const garbageCollection: readonly Identity[] = [
  { user: 'system:serviceaccount:kube-system:generic-garbage-collector' },
  { user: 'system:serviceaccount:kube-system:namespace-controller' },
];

/** For emergencies: members of this group bypass our policies. */
export const breakGlass: Identity = { group: 'slipway:break-glass' };

/** Identities that our policies must never refuse, including our controllers in `namespace`. */
export const exemptIdentities = (namespace: string = DEFAULT_NAMESPACE): readonly Identity[] => [
  buildControllerIdentity(namespace),
  ...garbageCollection,
  breakGlass,
];
