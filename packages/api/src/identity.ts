/** Who makes a request, as kube-apiserver knows it: one user, or everybody in a group. */
export type Identity = { user: string } | { group: string };

/** The namespace our controllers and daemons run in, unless they are told otherwise. */
export const defaultNamespace = 'openshift-machine-config-operator';

export const serviceAccountsOf = (namespace: string): Identity => ({ group: `system:serviceaccounts:${namespace}` });

/** Kubernetes' own controllers that delete what belongs to a deleted object or namespace. */
export const garbageCollection: readonly Identity[] = [
  { user: 'system:serviceaccount:kube-system:generic-garbage-collector' },
  { user: 'system:serviceaccount:kube-system:namespace-controller' },
];

/** For people in an emergency: whoever is put in this group passes our policies. */
export const breakGlass: Identity = { group: 'slipway:break-glass' };

/** Those that no policy of ours may stop, with our ServiceAccounts in `namespace`. */
export const exemptIdentities = (namespace: string = defaultNamespace): readonly Identity[] => [
  serviceAccountsOf(namespace),
  ...garbageCollection,
  breakGlass,
];
