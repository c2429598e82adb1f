import { type MachineConfigPool, machineConfigPools, type Node, nodes } from '@slipway/api';
import type { StoreReader, Stored } from '@slipway/kube';
import { describe, expect, it } from 'vitest';
import { computeRunInterval, createFleetViews } from './fleet-index.ts';

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
