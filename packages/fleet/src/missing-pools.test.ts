import { machineConfigPoolKind, machineConfigPools, validate } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { missingPools } from './missing-pools.ts';

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
