import { defaultNamespace } from '@slipway/api';

/** Who our controllers are: a ServiceAccount that our admission policies let through, here with all rights. */
export const operator = {
  user: `system:serviceaccount:${defaultNamespace}:machine-config-controller`,
  groups: [`system:serviceaccounts:${defaultNamespace}`, 'system:masters'],
  name: 'operator',
};
