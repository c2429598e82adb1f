import { type MachineConfigPool, machineConfigPools, type Node, nodeAnnotations, nodes } from '@slipway/api';
import { isEqual } from '@slipway/base/equal';
import type { StoreReader, Stored } from '@slipway/kube';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeRunInterval, createFleetViews, createPinViews } from './fleet-index.ts';

const role = (name: string) => `node-role.kubernetes.io/${name}`;
const pool = (name: string): Stored<MachineConfigPool> => ({
  metadata: { name, uid: name, resourceVersion: '1' },
  spec: { nodeSelector: { matchLabels: { [role(name)]: '' } } },
});
const node = (name: string, ...roles: string[]): Stored<Node> => ({
  metadata: {
    name,
    uid: name,
    resourceVersion: '1',
    labels: Object.fromEntries(roles.map((each) => [role(each), ''])),
  },
});

/** Stores with these objects, which the test changes. */
function reading(objects: { pools: Stored<MachineConfigPool>[]; nodes: Stored<Node>[] }): StoreReader {
  return ((resource: object) => {
    const found = resource === machineConfigPools ? objects.pools : resource === nodes ? objects.nodes : [];
    return {
      values: () => found.values(),
      get: () => undefined,
      size: found.length,
      byIndex: () => [],
      hasIndexed: () => false,
    };
  }) as StoreReader;
}

it.each([
  [0, 0],
  [3, 1],
  [100, 50],
  [5000, 500],
])('with %i machines, decisions about all of them are at least %i ms apart', (count, ms) => {
  const objects = { pools: [], nodes: Array.from({ length: count }, (_, index) => node(`n${index}`)) };
  expect(computeRunInterval('worker', reading(objects))).toBe(ms);
});

describe('pool membership', () => {
  const objects = { pools: [pool('worker')], nodes: [node('a', 'worker'), node('b', 'worker', 'gpu'), node('c')] };
  const views = createFleetViews();
  const read = reading(objects);
  const namesIn = (name: string) =>
    views
      .view(read)
      .membersOf(name)
      .map(({ facts }) => facts.name);

  it('follows the labels of nodes, and names those without a pool', () => {
    expect(namesIn('worker')).toEqual(['a', 'b']);
    expect(
      views
        .view(read)
        .homeless()
        .map((each) => each.node.metadata.name),
    ).toEqual(['c']);
  });

  it('changes when a pool is created or deleted', () => {
    views.hasMoved(read);
    expect(views.hasMoved(read)).toBe(false);
    objects.pools.push(pool('gpu'));
    expect(views.hasMoved(read)).toBe(true);
    expect(namesIn('gpu')).toEqual(['b']);
    expect(namesIn('worker')).toEqual(['a']);
    objects.pools.pop();
    expect(views.hasMoved(read)).toBe(true);
    expect(namesIn('worker')).toEqual(['a', 'b']);
  });
});

describe('what is remembered of nodes', () => {
  const names = fc.constantFrom('worker', 'gpu', 'infra');
  /** Each replaces or removes one object, as a watch does. */
  const changes = fc.oneof(
    fc.record({
      node: fc.constantFrom('a', 'b', 'c'),
      roles: fc.array(names),
      state: fc.constantFrom('Done', 'Working'),
    }),
    fc.record({ node: fc.constantFrom('a', 'b', 'c'), roles: fc.constant(null), state: fc.constant('') }),
    fc.record({ pool: names, selects: fc.option(names) }),
  );

  it('is the same as without memory, after any changes of nodes and pools', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(changes, fc.boolean()), { maxLength: 30 }), (steps) => {
        const objects = { pools: new Array<Stored<MachineConfigPool>>(), nodes: new Array<Stored<Node>>() };
        const read = reading(objects);
        const [views, pins] = [createFleetViews(), createPinViews()];
        for (const [change, isRead] of steps) {
          if ('pool' in change) put(objects.pools, change.pool, buildPool(change));
          else put(objects.nodes, change.node, buildNode(change));
          if (!isRead) continue;
          const isSame = isEqual(describeAll(views, pins), describeAll(createFleetViews(), createPinViews()));
          expect(isSame).toBe(true);
        }

        function describeAll(fleet: typeof views, pinned: typeof pins) {
          const of = (each: Stored<Node>) => [fleet.poolOf(each, read), pinned.poolsOf(each, read)];
          const view = fleet.view(read);
          return [
            objects.nodes.map(of),
            objects.pools.map(({ metadata }) => view.membersOf(metadata.name).map(({ facts }) => facts)),
            view.homeless(),
          ];
        }
      }),
    );
  });

  const buildPool = ({ pool: name, selects }: { pool: string; selects: string | null }) =>
    selects === null ? null : { ...pool(selects), metadata: pool(name).metadata };
  const buildNode = ({ node: name, roles, state }: { node: string; roles: string[] | null; state: string }) => {
    if (roles === null) return null;
    const { metadata } = node(name, ...roles);
    return { metadata: { ...metadata, annotations: { [nodeAnnotations.state]: state } } };
  };
  function put<T extends Stored<Node | MachineConfigPool>>(list: T[], name: string, object: T | null): void {
    const at = list.findIndex(({ metadata }) => metadata.name === name);
    list.splice(at === -1 ? list.length : at, at === -1 ? 0 : 1, ...(object === null ? [] : [object]));
  }
});
