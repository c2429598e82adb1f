/** Who the controllers are on a control plane of our own: a ServiceAccount that our admission policies know, with all rights. */
export const operatorIdentity = (namespace: string): { user: string; groups: string[]; name: string } => ({
  user: `system:serviceaccount:${namespace}:machine-config-controller`,
  groups: [`system:serviceaccounts:${namespace}`, 'system:masters'],
  name: 'operator',
});
