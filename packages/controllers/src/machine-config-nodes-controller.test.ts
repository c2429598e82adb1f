import {
  type MachineConfigNode,
  machineConfigNodeKind,
  type MachineConfigPool,
  type Node,
  nodeAnnotations,
  validate,
} from '@slipway/api';
import { isEqual } from '@slipway/base/equal';
import type { Stored } from '@slipway/kube';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changesSpec, nextRecord } from './machine-config-nodes-controller.ts';

const identity = { uid: 'uid-1', resourceVersion: '1' };

const pools: MachineConfigPool[] = ['worker', 'infra', 'gpu'].map((name) => ({
  metadata: { name },
  spec: { nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: '' } } },
}));

const node = (desired: string | undefined, ...roles: string[]): Stored<Node> => ({
  metadata: {
    ...identity,
    name: 'n1',
    labels: Object.fromEntries(roles.map((role) => [`node-role.kubernetes.io/${role}`, ''])),
    annotations: desired === undefined ? {} : { [nodeAnnotations.desiredConfig]: desired },
  },
});

const record = (pool: string, desired: string, owner = 'uid-1'): Stored<MachineConfigNode> => ({
  metadata: {
    ...identity,
    name: 'n1',
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: owner }],
  },
  spec: { node: { name: 'n1' }, pool: { name: pool }, configVersion: { desired } },
});

const computeNextSpec = (...args: Parameters<typeof nextRecord>) => {
  const next = nextRecord(...args);
  return next.type === 'write' ? next.record.spec : next.type;
};

describe('the MachineConfigNode of a Node', () => {
  it.each([
    {
      title: 'has the pool and the desired config of its Node',
      node: node('rendered-worker-1', 'worker'),
      pool: 'worker',
      desired: 'rendered-worker-1',
    },
    {
      title: 'is created before the Node has a desired config',
      node: node(undefined, 'worker'),
      pool: 'worker',
      desired: 'not-yet-set',
    },
    {
      title: 'has no pool if its Node has none',
      node: node('rendered-worker-1'),
      pool: 'not-yet-set',
      desired: 'rendered-worker-1',
    },
  ])('$title', ({ node, pool, desired }) => {
    const next = nextRecord(node, pools, undefined);
    expect(next).toMatchObject({
      type: 'write',
      record: {
        metadata: { name: 'n1', ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'uid-1' }] },
        spec: { node: { name: 'n1' }, pool: { name: pool }, configVersion: { desired } },
      },
    });
    const object = next.type === 'write' ? next.record : {};
    expect(
      validate(machineConfigNodeKind, {
        apiVersion: 'machineconfiguration.openshift.io/v1',
        kind: 'MachineConfigNode',
        ...object,
      }),
    ).toMatchObject({ ok: true });
  });

  it('is not written while it is current', () => {
    expect(nextRecord(node('a', 'worker'), pools, record('worker', 'a'))).toEqual({ type: 'nothing' });
  });

  it('follows the desired config and the pool', () => {
    expect(computeNextSpec(node('b', 'worker'), pools, record('worker', 'a'))).toMatchObject({
      configVersion: { desired: 'b' },
    });
    expect(computeNextSpec(node('a', 'worker', 'infra'), pools, record('worker', 'a'))).toMatchObject({
      pool: { name: 'infra' },
    });
  });

  it('of a node in two custom pools names none, and explains why', () => {
    expect(nextRecord(node('a', 'gpu', 'infra'), pools, record('infra', 'a'))).toMatchObject({
      record: { spec: { pool: { name: 'not-yet-set' } } },
      problem: { code: 'SLW_POOL_SEVERAL' },
    });
  });

  it('is deleted with its Node, and recreated for another Node with that name', () => {
    expect(nextRecord(undefined, pools, record('worker', 'a'))).toEqual({ type: 'delete' });
    expect(nextRecord(undefined, pools, undefined)).toEqual({ type: 'nothing' });
    expect(nextRecord(node('a', 'worker'), pools, record('worker', 'a', 'uid-0'))).toEqual({ type: 'delete' });
  });
});

describe('an update of a Node', () => {
  const before = node('rendered-worker-1', 'worker');
  const annotated = (annotations: Record<string, string>): Stored<Node> => ({
    ...before,
    metadata: { ...before.metadata, annotations: { ...before.metadata.annotations, ...annotations } },
  });

  it.each<[string, Stored<Node>, boolean]>([
    ['of its desired config', node('rendered-worker-2', 'worker'), true],
    ['that removes it', node(undefined, 'worker'), true],
    ['of its roles', node('rendered-worker-1', 'worker', 'infra'), true],
    ['of its state', annotated({ [nodeAnnotations.state]: 'Working' }), false],
    ['of its drain', annotated({ [nodeAnnotations.lastAppliedDrain]: 'drain-rendered-worker-2' }), false],
    ['of its conditions', { ...before, status: { conditions: [{ type: 'Ready', status: 'False' }] } }, false],
  ])('%s changes its MachineConfigNode: %s', (_what, after, isDifferent) => {
    expect(changesSpec(before, after)).toBe(isDifferent);
    const spec = computeNextSpec(after, pools, undefined);
    expect(isEqual(spec, computeNextSpec(before, pools, undefined))).toBe(!isDifferent);
  });

  it('that changes what is done about its MachineConfigNode, whatever is there, is one of its spec', () => {
    const texts = (...values: string[]) => fc.dictionary(fc.constantFrom(...values), fc.constantFrom('', 'x', 'y'));
    const labels = ['worker', 'infra', 'gpu'].map((role) => `node-role.kubernetes.io/${role}`);
    const nodes = fc
      .record({
        labels: fc.option(texts(...labels, 'zone'), { nil: undefined }),
        annotations: fc.option(texts(nodeAnnotations.desiredConfig, nodeAnnotations.state), { nil: undefined }),
        deletionTimestamp: fc.constantFrom(undefined, '2026-01-05T08:00:00Z'),
      })
      .map((fields) => ({ metadata: { ...identity, name: 'n1', ...fields } }) as Stored<Node>);
    const records = fc.constantFrom(undefined, record('worker', 'x'), record('not-yet-set', 'not-yet-set'));
    fc.assert(
      fc.property(nodes, nodes, records, (old, next, there) => {
        const isSame = isEqual(nextRecord(old, pools, there), nextRecord(next, pools, there));
        expect(isSame || changesSpec(old, next)).toBe(true);
      }),
    );
  });
});
