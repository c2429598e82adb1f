import { SINGLETON_NAME } from './machineconfiguration/names.ts';
import type { Rule } from './schema.ts';

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** Metadata of every object. kube-apiserver validates it, so our schemas do not contain it. */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  generateName?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
}

/** The name of an object whose metadata is not validated yet. */
export function nameIn(object: object): unknown {
  const metadata: unknown = Reflect.get(object, 'metadata');
  return typeof metadata === 'object' && metadata !== null ? Reflect.get(metadata, 'name') : undefined;
}

/** A kind with exactly one object per cluster. */
export const singleton = (kind: string): Rule<object> => ({
  rule: `self.metadata.name == '${SINGLETON_NAME}'`,
  message: `only one ${kind} may exist, and its name must be '${SINGLETON_NAME}'`,
  holds: (self) => nameIn(self) === SINGLETON_NAME,
});
