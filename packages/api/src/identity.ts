/** Who makes a request, as kube-apiserver knows it: one user, or everybody in a group but for some of them. */
export type Identity = { user: string } | { group: string; except?: readonly string[] };

/** The namespace our controllers and daemons run in, unless they are told otherwise. */
export const DEFAULT_NAMESPACE = 'openshift-machine-config-operator';

/** The ServiceAccount of the daemons: one for all of them, each with a token that says which node it runs on. */
export const DAEMON_ACCOUNT = 'machine-config-daemon';

export const daemonUser = (namespace: string): string => `system:serviceaccount:${namespace}:${DAEMON_ACCOUNT}`;

/** Our controllers. A daemon is none: who takes over a machine has its token. */
export const buildControllerIdentity = (namespace: string): Identity => ({
  group: `system:serviceaccounts:${namespace}`,
  except: [daemonUser(namespace)],
});

/** Kubernetes' own controllers that delete what belongs to a deleted object or namespace. */
export const garbageCollection: readonly Identity[] = [
  { user: 'system:serviceaccount:kube-system:generic-garbage-collector' },
  { user: 'system:serviceaccount:kube-system:namespace-controller' },
];

/** For people in an emergency: whoever is put in this group passes our policies. */
export const breakGlass: Identity = { group: 'slipway:break-glass' };

/** Those that no policy of ours may stop, with our controllers in `namespace`. */
export const exemptIdentities = (namespace: string = DEFAULT_NAMESPACE): readonly Identity[] => [
  buildControllerIdentity(namespace),
  ...garbageCollection,
  breakGlass,
];
