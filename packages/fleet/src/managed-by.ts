import type { KubeObject } from './kube-object.ts';

export const managedByLabel = 'app.kubernetes.io/managed-by';
export const MANAGED_BY_SLIPWAY = 'slipway';

/** Whether Slipway made this object and keeps it. */
export const isManaged = ({ metadata }: KubeObject): boolean =>
  metadata.labels?.[managedByLabel] === MANAGED_BY_SLIPWAY;
