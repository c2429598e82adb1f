import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject, Stored } from '../client/resource.ts';
import { type Change, createStore } from './store.ts';

interface Thing extends KubeObject {
  tags: string[];
}

const thing = (name: string, uid: string, resourceVersion: string, tags: string[] = []): Stored<Thing> => ({
  metadata: { name, namespace: 'n', uid, resourceVersion },
  tags,
});

const indexes = { tag: (object: Stored<Thing>) => object.tags, uid: (object: Stored<Thing>) => [object.metadata.uid] };

describe('store', () => {
  it('reports added, updated and deleted, each with the previous object', () => {
    const store = createStore<Thing>();
    const [one, two] = [thing('a', 'u', '1'), thing('a', 'u', '2')];
    expect(store.put(one)).toEqual([{ type: 'added', object: one }]);
    expect(store.put(two)).toEqual([{ type: 'updated', old: one, object: two }]);
    expect(store.remove('n/a')).toEqual([{ type: 'deleted', old: two }]);
    expect(store.remove('n/a')).toEqual([]);
    expect(store.size).toBe(0);
  });

  it('reports nothing for a version it already has, and keeps its object', () => {
    const store = createStore<Thing>();
    const one = thing('a', 'u', '1');
    store.put(one);
    expect(store.put(thing('a', 'u', '1'))).toEqual([]);
    expect(store.get('n/a')).toBe(one);
  });

  it('reports deleted and added for another object with the same name', () => {
    const store = createStore<Thing>();
    const [one, other] = [thing('a', 'u', '1'), thing('a', 'v', '2')];
    store.put(one);
    expect(store.put(other)).toEqual([
      { type: 'deleted', old: one },
      { type: 'added', object: other },
    ]);
  });

  it('names the available indexes if another is requested', () => {
    expect(() => createStore<Thing>(indexes).byIndex('tags', 'x')).toThrow('no index named tags; available: tag, uid');
  });

  it('is unchanged if an index function throws', () => {
    const breaking = (object: Stored<Thing>): string[] => {
      if (object.tags.includes('bad')) throw new Error('broken');
      return object.tags;
    };
    const store = createStore<Thing>({ tag: indexes.tag, breaking });
    const good = thing('a', 'u', '1', ['x']);
    store.put(good);
    expect(() => store.put(thing('a', 'u', '2', ['bad', 'y']))).toThrow('broken');
    expect(store.get('n/a')).toBe(good);
    expect(store.byIndex('tag', 'x')).toEqual([good]);
    expect(store.byIndex('tag', 'y')).toEqual([]);
    expect(store.put(thing('a', 'u', '3', ['y']))).toMatchObject([{ type: 'updated' }]);
  });

  it('equals a plain map, with every index correct, whatever happens', () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const tags = fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 4 });
    const put = fc.record({ name, uid: fc.constantFrom('1', '2'), version: fc.nat(5), tags });
    const step = fc.oneof({ weight: 3, arbitrary: put }, fc.record({ remove: name }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const store = createStore<Thing>(indexes);
        const model = new Map<string, Stored<Thing>>();
        /** The state that a listener derives from the changes alone. */
        const heard = new Map<string, Stored<Thing>>();
        for (const one of steps) {
          if ('remove' in one) {
            hear(heard, store.remove(`n/${one.remove}`));
            model.delete(`n/${one.remove}`);
          } else {
            const object = thing(one.name, one.uid, String(one.version), one.tags);
            const had = model.get(`n/${one.name}`)?.metadata;
            hear(heard, store.put(object));
            if (had?.uid !== one.uid || had.resourceVersion !== String(one.version)) model.set(`n/${one.name}`, object);
          }
          expect(heard).toEqual(model);
          expect(new Map([...store.keys()].map((key) => [key, store.get(key)]))).toEqual(model);
          expect(new Set(store.values())).toEqual(new Set(model.values()));
          expect(store.size).toBe(model.size);
          for (const tag of ['x', 'y', 'z']) {
            const expected = [...model.values()].filter((object) => object.tags.includes(tag));
            expect(new Set(store.byIndex('tag', tag))).toEqual(new Set(expected));
            expect(store.byIndex('tag', tag)).toHaveLength(expected.length);
            expect(store.hasIndexed('tag', tag)).toBe(expected.length > 0);
          }
        }
      }),
    );
  });
});

function hear(heard: Map<string, Stored<Thing>>, changes: Change<Thing>[]): void {
  for (const change of changes) {
    const before = change.type === 'added' ? undefined : change.old;
    const after = change.type === 'deleted' ? undefined : change.object;
    const key = keyOfThing(before ?? after);
    expect(heard.get(key)).toBe(before);
    if (after === undefined) heard.delete(key);
    else heard.set(key, after);
  }
}

const keyOfThing = (object: Stored<Thing> | undefined): string => `n/${object?.metadata.name}`;
