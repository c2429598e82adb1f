import { isDeepStrictEqual } from 'node:util';
import { type Client, createInformer, type KubeObject, type Resource, type Stored } from '@slipway/kube';
import { onTestFinished } from 'vitest';

/** What a watch sees of a kind, until the test ends. */
export interface Sightings<V> {
  /** The distinct consecutive values of one object. */
  of(name: string): readonly V[];
  /** Every value of any object, once. */
  readonly all: ReadonlySet<V>;
}

/** Objects for which `look` returns nothing are ignored. */
export async function watchFor<T extends KubeObject, V>(
  client: Client,
  resource: Resource<T>,
  look: (object: Stored<T>) => V | undefined,
): Promise<Sightings<V>> {
  const seen = new Map<string, V[]>();
  const all = new Set<V>();
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const informer = createInformer(client.transport, { resource });
  informer.onChange((change) => {
    const value = change.type === 'deleted' ? undefined : look(change.object);
    if (change.type === 'deleted' || value === undefined) return;
    all.add(value);
    const { name } = change.object.metadata;
    const values = seen.get(name) ?? [];
    seen.set(name, values);
    if (!isDeepStrictEqual(values.at(-1), value)) values.push(value);
  });
  informer.start(ended.signal);
  await informer.synced;
  return { of: (name) => seen.get(name) ?? [], all };
}
