import type { KubeObject, Stored } from './resource.ts';

/** Makes what is kept of what was received. The received object is fresh: it may be changed in place. */
export type Projection<T extends KubeObject> = (received: Stored<T>) => Stored<T>;

/** managedFields is a third of a Node and nobody reads it. */
export function dropManagedFields<T extends KubeObject>(received: Stored<T>): Stored<T> {
  Reflect.deleteProperty(received.metadata, 'managedFields');
  return received;
}
