import { type MachineConfigPool, machineConfigPoolKind, machineConfigPools, validate } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { missingPools, selectPool } from './pool-membership.ts';

const role = (name: string): string => `node-role.kubernetes.io/${name}`;

const pool = (
  name: string,
  nodeSelector: MachineConfigPool['spec']['nodeSelector'] = { matchLabels: { [role(name)]: '' } },
): MachineConfigPool => ({
  metadata: { name },
  spec: nodeSelector === undefined ? {} : { nodeSelector },
});

const pools = ['worker', 'infra', 'arbiter', 'master', 'gpu'].map((name) => pool(name));

const node = (...roles: string[]) => ({
  name: 'n1',
  labels: { 'kubernetes.io/hostname': 'n1', ...Object.fromEntries(roles.map((each) => [role(each), ''])) },
});

describe('selectPool', () => {
  it.each([
    { roles: ['worker'], pool: 'worker', because: 'it is a worker' },
    { roles: ['master'], pool: 'master', because: 'it is a master' },
    { roles: ['worker', 'infra'], pool: 'infra', because: 'a custom pool goes before worker' },
    { roles: ['infra'], pool: 'infra', because: 'a custom pool selects it' },
    { roles: ['master', 'worker'], pool: 'master', because: 'in a small cluster masters are workers as well' },
    { roles: ['master', 'infra'], pool: 'master', because: 'master goes before a custom pool' },
    { roles: ['master', 'worker', 'infra'], pool: 'master', because: 'master goes before both' },
    { roles: ['arbiter', 'worker'], pool: 'arbiter', because: 'arbiter goes before worker' },
    { roles: ['worker', 'storage'], pool: 'worker', because: 'a role without a pool counts for nothing' },
  ])('a node with the roles $roles is in $pool: $because', (row) => {
    expect(selectPool(node(...row.roles), pools)).toEqual({ ok: true, pool: row.pool });
    expect(selectPool(node(...row.roles), pools.toReversed())).toEqual({ ok: true, pool: row.pool });
  });

  it.each([[['worker', 'gpu', 'infra']], [['gpu', 'infra']], [['master', 'gpu', 'infra']]])(
    'a node with the roles %j is in two custom pools: a problem that names them',
    (roles) => {
      expect(selectPool(node(...roles), pools)).toEqual({
        ok: false,
        code: 'SLW_POOL_SEVERAL',
        message: expect.stringContaining('Node n1 is selected by the pools gpu and infra') as string,
      });
    },
  );

  it('a node that no pool selects is a problem that names its labels', () => {
    const { ok, ...problem } = selectPool(node('storage'), pools);
    expect(ok).toBe(false);
    expect(problem).toMatchObject({ code: 'SLW_POOL_NONE', message: expect.stringContaining(role('storage')) });
    expect(selectPool({ name: 'n1' }, pools)).toMatchObject({ message: expect.stringContaining('no role label') });
    expect(selectPool(node('worker'), [])).toMatchObject({ ok: false, code: 'SLW_POOL_NONE' });
  });

  it('a pool without a selector, or with an empty one, selects no node', () => {
    const greedy = [{ metadata: { name: 'all' }, spec: {} }, pool('every', {}), pool('each', { matchLabels: {} })];
    expect(selectPool(node('worker'), [...greedy, ...pools])).toEqual({ ok: true, pool: 'worker' });
  });

  it('expressions select like labels', () => {
    const selector = { matchExpressions: [{ key: 'rack', operator: 'In', values: ['a', 'b'] }] };
    const labels = { ...node('worker').labels, rack: 'b' };
    expect(selectPool({ name: 'n1', labels }, [...pools, pool('racks', selector)])).toEqual({
      ok: true,
      pool: 'racks',
    });
  });
});

describe('missingPools', () => {
  it.each([
    [[], ['master', 'worker']],
    [['worker'], ['master']],
    [['infra', 'master'], ['worker']],
    [['master', 'worker', 'infra'], []],
  ])('of a cluster with the pools %j are %j', (existing, missing) => {
    expect(missingPools(existing).map((pool) => pool.metadata.name)).toEqual(missing);
  });

  it('are valid pools that select their role', () => {
    for (const pool of missingPools([])) {
      expect(
        validate(machineConfigPoolKind, {
          apiVersion: `${machineConfigPools.group}/${machineConfigPools.version}`,
          kind: 'MachineConfigPool',
          ...pool,
        }),
      ).toMatchObject({ ok: true });
      expect(pool.spec.machineConfigSelector).toEqual({
        matchLabels: { 'machineconfiguration.openshift.io/role': pool.metadata.name },
      });
    }
  });
});
