import { createManualClock } from '@slipway/testing/manual-clock';
import { describe, expect, it } from 'vitest';
import { keyOf, type KubeObject, type Resource, type Stored } from '../client/resource.ts';
import type { LandedWrite } from '../client/writer.ts';
import type { Informer } from '../watch/informer.ts';
import { createStore } from '../watch/store.ts';
import type { Source } from './controller-def.ts';
import { createLog } from './log.ts';
import { createOwnWrites, isSeen } from './own-writes.ts';

const nodes: Resource = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };
const pools: Resource = { group: 'example.io', version: 'v1', kind: 'Pool', plural: 'pools', namespaced: false };
const secrets: Resource = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };

const object = (name: string, version: string, more: Partial<KubeObject['metadata']> = {}): Stored<KubeObject> => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: version, ...more },
});

const changed = (resource: Resource, written: Stored<KubeObject>): LandedWrite => ({
  type: 'changed',
  resource,
  object: written,
});
const created = (resource: Resource, written: Stored<KubeObject>): LandedWrite => ({
  type: 'created',
  resource,
  object: written,
});

describe('a write is seen', () => {
  const buildView = (version: string | undefined, ...objects: Stored<KubeObject>[]) => {
    const store = createStore();
    for (const each of objects) store.put(each);
    return { store, version };
  };

  it.each<[string, ReturnType<typeof buildView>, LandedWrite, boolean]>([
    [
      'not in a store with an older version',
      buildView('50', object('a', '99')),
      changed(nodes, object('a', '100')),
      false,
    ],
    ['in a store with that version', buildView('50', object('a', '100')), changed(nodes, object('a', '100')), true],
    ['in a store with a later version', buildView('50', object('a', '101')), changed(nodes, object('a', '100')), true],
    ['by numbers, not by text', buildView('50', object('a', '999')), changed(nodes, object('a', '1000')), false],
    ['where the object is gone', buildView('50'), changed(nodes, object('a', '100')), true],
    ['not where a new object has not come', buildView('50'), created(nodes, object('a', '100')), false],
    [
      'not where an older object of that name is there',
      buildView('50', object('a', '9')),
      created(nodes, object('a', '100')),
      false,
    ],
    ['where the watch has passed it', buildView('100'), created(nodes, object('a', '100')), true],
    ['by numbers of the watch', buildView('99'), created(nodes, object('a', '100')), false],
    ['not while everything is read', buildView(undefined), created(nodes, object('a', '100')), false],
  ])('%s', (_promise, view, write, expected) => {
    expect(isSeen(view, write)).toBe(expected);
  });
});

/** Stores that a test fills, on a clock that it moves. */
function setUp(sources: readonly Source[], of: 'key' | 'all' = 'key') {
  const clock = createManualClock();
  const views = sources.map((source) => {
    const store = createStore();
    const followers = new Set<(key: string | undefined) => void>();
    const state: { problem: unknown; version: string | undefined } = { problem: undefined, version: undefined };
    const informer: Informer<KubeObject> = {
      resource: source.resource,
      store,
      synced: Promise.resolve(),
      downSince: undefined,
      get problem() {
        return state.problem;
      },
      get version() {
        return state.version;
      },
      start() {},
      onChange: () => () => {},
      onProgress(follower) {
        followers.add(follower);
        return () => followers.delete(follower);
      },
    };
    const notify = (key: string | undefined): void => {
      for (const follower of followers) follower(key);
    };
    return {
      informer,
      state,
      followers,
      put(each: Stored<KubeObject>) {
        store.put(each);
        notify(keyOf(each));
      },
      remove(key: string) {
        store.remove(key);
        notify(key);
      },
      passed(version: string) {
        state.version = version;
        notify(undefined);
      },
    };
  });
  const lines: string[] = [];
  const log = createLog({ pretty: false, write: (line) => lines.push(line) });
  const informers = new Map(sources.map((source, index) => [source, views[index]?.informer as Informer<KubeObject>]));
  const ownWrites = createOwnWrites({ informers, of, log, clock });
  let news = 0;
  ownWrites.onSeen(() => (news += 1));
  const [view, other = view] = views;
  if (view === undefined || other === undefined) throw new Error('a test without sources');
  return {
    ownWrites,
    view,
    other,
    lines,
    clock,
    news: () => news,
  };
}

describe('a key that has written', () => {
  it('is behind until the store shows it; others are not', () => {
    const { ownWrites, view, news } = setUp([{ resource: nodes }]);
    view.put(object('n1', '5'));
    ownWrites.add('worker', changed(nodes, object('n1', '10')));
    expect([ownWrites.isBehind('worker'), ownWrites.isBehind('infra')]).toEqual([true, false]);
    view.put(object('n2', '11'));
    expect([ownWrites.isBehind('worker'), news()]).toEqual([true, 0]);
    view.put(object('n1', '10'));
    expect([ownWrites.isBehind('worker'), news()]).toEqual([false, 1]);
  });

  it('delays all keys of a controller that decides on all of them', () => {
    const { ownWrites, view } = setUp([{ resource: nodes }], 'all');
    view.put(object('n1', '5'));
    ownWrites.add('worker', changed(nodes, object('n1', '10')));
    expect(ownWrites.isBehind('infra')).toBe(true);
    view.put(object('n1', '10'));
    expect(ownWrites.isBehind('infra')).toBe(false);
  });

  it('waits for all its writes, of any kind', () => {
    const { ownWrites, view, other } = setUp([{ resource: nodes }, { resource: pools }]);
    for (const name of ['n1', 'n2']) view.put(object(name, '1'));
    other.put(object('worker', '2'));
    for (const name of ['n1', 'n2']) ownWrites.add('worker', changed(nodes, object(name, '10')));
    ownWrites.add('worker', changed(pools, object('worker', '12')));
    const steps = [
      () => view.put(object('n1', '10')),
      () => other.put(object('worker', '12')),
      () => view.put(object('n2', '10')),
    ];
    expect(steps.map((step) => (step(), ownWrites.isBehind('worker')))).toEqual([true, true, false]);
  });

  it('waits for objects of one name in several kinds and namespaces, each by itself', () => {
    const { ownWrites, view, other, news } = setUp([{ resource: nodes }, { resource: pools }]);
    const inNamespace = (namespace: string, version: string) => object('same', version, { namespace });
    for (const each of [view, other]) each.put(object('same', '5'));
    for (const namespace of ['ns', 'elsewhere']) view.put(inNamespace(namespace, '5'));
    ownWrites.add('a', changed(nodes, object('same', '10')));
    ownWrites.add('b', changed(pools, object('same', '11')));
    ownWrites.add('c', changed(nodes, inNamespace('ns', '12')));
    ownWrites.add('d', changed(nodes, inNamespace('elsewhere', '13')));
    ownWrites.add('e', changed(nodes, object('same', '14')));
    const behind = (): string => ['a', 'b', 'c', 'd', 'e'].filter((key) => ownWrites.isBehind(key)).join('');
    const steps = [
      () => view.put(inNamespace('elsewhere', '13')),
      () => view.put(object('same', '10')),
      () => other.put(object('same', '11')),
      () => view.put(inNamespace('ns', '12')),
      () => view.put(object('same', '14')),
    ];
    expect(steps.map((step) => (step(), `${behind()} ${news()}`))).toEqual(['abce 1', 'bce 2', 'ce 3', 'e 4', ' 5']);
  });

  it('that deletes what it wrote and creates it again waits for the new object', () => {
    const { ownWrites, view } = setUp([{ resource: nodes }]);
    view.put(object('n1', '5'));
    ownWrites.add('a', changed(nodes, object('n1', '10')));
    ownWrites.add('a', created(nodes, object('n1', '12', { uid: 'another' })));
    view.put(object('n1', '10'));
    view.remove('n1');
    expect(ownWrites.isBehind('a')).toBe(true);
    view.put(object('n1', '12', { uid: 'another' }));
    expect(ownWrites.isBehind('a')).toBe(false);
  });

  it('waits for the last of several writes of one object', () => {
    const { ownWrites, view } = setUp([{ resource: nodes }]);
    view.put(object('n1', '5'));
    ownWrites.add('a', changed(nodes, object('n1', '10')));
    ownWrites.add('a', changed(nodes, object('n1', '12')));
    view.put(object('n1', '10'));
    expect(ownWrites.isBehind('a')).toBe(true);
    view.put(object('n1', '12'));
    expect(ownWrites.isBehind('a')).toBe(false);
  });

  it('waits for what it created, even if it changed that again immediately', () => {
    const { ownWrites, view } = setUp([{ resource: nodes }]);
    ownWrites.add('a', created(nodes, object('n1', '10')));
    ownWrites.add('a', changed(nodes, object('n1', '11')));
    expect(ownWrites.isBehind('a')).toBe(true);
    view.put(object('n1', '11'));
    expect(ownWrites.isBehind('a')).toBe(false);
  });

  it('is released when a bookmark shows that all writes have arrived', () => {
    const { ownWrites, view, news } = setUp([{ resource: nodes }]);
    ownWrites.add('a', created(nodes, object('n1', '10')));
    view.passed('9');
    expect(ownWrites.isBehind('a')).toBe(true);
    view.passed('10');
    expect([ownWrites.isBehind('a'), news()]).toEqual([false, 1]);
  });

  it.each<[string, Source]>([
    ['of a kind that is not read', { resource: pools }],
    ['of another namespace', { resource: secrets, namespace: 'elsewhere' }],
    ['with a name that is not watched', { resource: secrets, fieldSelector: 'metadata.name=another' }],
    ['with labels that are not watched', { resource: secrets, labelSelector: 'a,!b' }],
    ['with a selector that only the server knows', { resource: secrets, fieldSelector: 'type=Opaque' }],
  ])('does not wait for an object %s', (_what, source) => {
    const { ownWrites, clock } = setUp([source]);
    const written = object('s', '10', { namespace: 'ns', labels: { a: '', b: '' } });
    ownWrites.add('a', created(secrets, written));
    expect([ownWrites.isBehind('a'), clock.waits().length]).toEqual([false, 0]);
  });

  it('waits for every store that should contain the object', () => {
    const { ownWrites, view, other } = setUp([
      { resource: secrets, namespace: 'ns', labelSelector: 'a=b' },
      { resource: secrets, as: 'metadata' },
    ]);
    const written = object('s', '10', { namespace: 'ns', labels: { a: 'b' } });
    ownWrites.add('a', created(secrets, written));
    view.put(written);
    expect(ownWrites.isBehind('a')).toBe(true);
    other.put(written);
    expect(ownWrites.isBehind('a')).toBe(false);
  });

  it('does not wait if the response was not an object', () => {
    const { ownWrites } = setUp([{ resource: nodes }]);
    ownWrites.add('a', created(nodes, {} as Stored<KubeObject>));
    expect(ownWrites.isBehind('a')).toBe(false);
  });
});

describe('a write that never comes back', () => {
  it('delays its key for three minutes of a working watch, and is reported', async () => {
    const { ownWrites, lines, clock, news } = setUp([{ resource: nodes }]);
    ownWrites.add('a', created(nodes, object('n1', '10')));
    await clock.advance(179_999);
    expect([ownWrites.isBehind('a'), lines.length]).toEqual([true, 0]);
    await clock.advance(1);
    expect([ownWrites.isBehind('a'), news()]).toEqual([false, 1]);
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { level: 'warn', key: 'a', kind: 'Node', object: 'n1' },
    ]);
  });

  it('delays it as long as the watch is broken', async () => {
    const { ownWrites, view, clock } = setUp([{ resource: nodes }]);
    view.state.problem = new Error('down');
    ownWrites.add('a', created(nodes, object('n1', '10')));
    await clock.advance(1_000_000);
    expect(ownWrites.isBehind('a')).toBe(true);
    view.state.problem = undefined;
    await clock.advance(180_000);
    expect(ownWrites.isBehind('a')).toBe(false);
  });

  it('leaves no timer and no listener behind after close', () => {
    const { ownWrites, view, clock } = setUp([{ resource: nodes }]);
    ownWrites.add('a', created(nodes, object('n1', '10')));
    ownWrites.close();
    // The response to a write that was in progress.
    ownWrites.add('a', created(nodes, object('n2', '11')));
    expect([clock.waits().length, view.followers.size, ownWrites.isBehind('a')]).toEqual([0, 0, false]);
  });
});
