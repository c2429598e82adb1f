import type { TObject } from 'typebox';
import { SINGLETON_NAME } from './machineconfiguration/names.ts';
import {
  atomicList,
  flag,
  freeForm,
  int64,
  object,
  optional,
  type Rule,
  stringMap,
  text,
  timestamp,
} from './schema.ts';

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** Metadata of every object: what Slipway reads and writes of it. */
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

/** kube-apiserver stores null as an empty text. */
const texts = (description: string) => {
  const map = stringMap(description);
  return { ...map, additionalProperties: { type: 'string', default: '' } };
};

/** All fields and their types. CRDs do not contain them: kube-apiserver has its own. */
export const objectMetaSchema: TObject = object('Metadata.', {
  name: optional(text()),
  generateName: optional(text()),
  namespace: optional(text()),
  selfLink: optional(text()),
  uid: optional(text()),
  resourceVersion: optional(text()),
  generation: optional(int64('Generation.')),
  creationTimestamp: optional(timestamp('Time of creation.')),
  deletionTimestamp: optional(timestamp('Time of deletion.')),
  deletionGracePeriodSeconds: optional(int64('Grace period.')),
  labels: optional(texts('Labels.')),
  annotations: optional(texts('Annotations.')),
  finalizers: optional(atomicList('Finalizers.', text())),
  ownerReferences: optional(
    atomicList(
      'Owners.',
      object('Owner.', {
        apiVersion: text(),
        kind: text(),
        name: text(),
        uid: text(),
        controller: optional(flag('Whether the owner is the controller.')),
        blockOwnerDeletion: optional(flag('Whether it blocks the deletion of the owner.')),
      }),
    ),
  ),
  managedFields: optional(
    atomicList(
      'Managers of the fields.',
      object('Manager.', {
        manager: optional(text()),
        operation: optional(text()),
        apiVersion: optional(text()),
        time: optional(timestamp('Time of the last change.')),
        fieldsType: optional(text()),
        fieldsV1: optional(freeForm('Fields.')),
        subresource: optional(text()),
      }),
    ),
  ),
});

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
