/** The sender of a request, as kube-apiserver authenticates it: one user, or every member of a group. */
export type Identity = { user: string } | { group: string };

/** The namespace that our controllers and daemons run in, unless configured otherwise. */
export const DEFAULT_NAMESPACE = 'openshift-machine-config-operator';

/** The ServiceAccount that all daemons share. The token of each daemon names its node. */
export const DAEMON_ACCOUNT = 'machine-config-daemon';

/** The ServiceAccount of the controllers: the only one of our namespace that the policies exempt. */
export const CONTROLLER_ACCOUNT = 'machine-config-controller';

const accountUser = (namespace: string, account: string): string => `system:serviceaccount:${namespace}:${account}`;

export const daemonUser = (namespace: string): string => accountUser(namespace, DAEMON_ACCOUNT);

export const controllerUser = (namespace: string): string => accountUser(namespace, CONTROLLER_ACCOUNT);

/**
 * The Kubernetes controllers that delete the dependents of a deleted object or namespace. Without
 * `--use-service-account-credentials`, kube-controller-manager runs all of them under its own name.
 */
export const garbageCollection: readonly Identity[] = [
  { user: 'system:kube-controller-manager' },
  { user: 'system:serviceaccount:kube-system:generic-garbage-collector' },
  { user: 'system:serviceaccount:kube-system:namespace-controller' },
];

/** For emergencies: members of this group bypass our policies. */
export const breakGlass: Identity = { group: 'slipway:break-glass' };

/**
 * Identities that our policies must never refuse. No other ServiceAccount of our namespace is one: the server writes
 * nothing, and an attacker who takes over a machine has the token of its daemon.
 */
export const exemptIdentities = (namespace: string = DEFAULT_NAMESPACE): readonly Identity[] => [
  { user: controllerUser(namespace) },
  ...garbageCollection,
  breakGlass,
];
