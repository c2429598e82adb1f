import type { ObjectMeta } from '@slipway/api';

export interface KubeObject {
  readonly metadata: ObjectMeta;
}

/** An object from the API server, with a UID and a resourceVersion. */
export type Stored<T extends KubeObject> = T & { metadata: { uid: string; resourceVersion: string } };

export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
export const MANAGED_BY_SLIPWAY = 'slipway';

/** Whether Slipway created and maintains this object. */
export const isManaged = ({ metadata }: KubeObject): boolean =>
  metadata.labels?.[MANAGED_BY_LABEL] === MANAGED_BY_SLIPWAY;
