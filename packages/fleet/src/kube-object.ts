import type { ObjectMeta } from '@slipway/api';

export interface KubeObject {
  readonly metadata: ObjectMeta;
}

/** An object as the API server sent it: with an identity and a version. */
export type Stored<T extends KubeObject> = T & { metadata: { uid: string; resourceVersion: string } };
