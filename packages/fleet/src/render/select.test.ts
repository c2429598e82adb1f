import { builtInLabel, roleLabel, type MachineConfig, type MachineConfigPool } from '@slipway/api';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { machineConfig, workerPool } from './sample.ts';
import { selectMachineConfigs, selectorProblems } from './select.ts';

const infra: MachineConfigPool = {
  metadata: { name: 'infra' },
  spec: {
    machineConfigSelector: { matchExpressions: [{ key: roleLabel, operator: 'In', values: ['worker', 'infra'] }] },
  },
};

const builtIn = (name: string, role: string): MachineConfig => ({
  metadata: { name, labels: { [roleLabel]: role, [builtInLabel]: '' } },
});

const fleet = [
  machineConfig('10-infra', {}, 'infra'),
  machineConfig('99-worker-b'),
  machineConfig('99-worker-a'),
  builtIn('97-worker-generated', 'worker'),
  builtIn('00-worker', 'worker'),
  builtIn('00-master', 'master'),
  machineConfig('05-infra', {}, 'infra'),
  machineConfig('rendered-worker-0123456789abcdef0123456789abcdef'),
  machineConfig('98-Zebra'),
];

const namesFor = (pool: MachineConfigPool, all: Iterable<MachineConfig>) =>
  selectMachineConfigs(pool, all).map(({ metadata }) => metadata.name);

describe('the MachineConfigs of a pool', () => {
  it('are the built-in ones, then those of its users by name, and never a rendered one', () => {
    expect(namesFor(workerPool, fleet)).toEqual([
      '00-worker',
      '97-worker-generated',
      '98-Zebra',
      '99-worker-a',
      '99-worker-b',
    ]);
  });

  it('of a custom pool are the role worker’s and then its own, whatever their names', () => {
    expect(namesFor(infra, fleet)).toEqual([
      '00-worker',
      '97-worker-generated',
      '98-Zebra',
      '99-worker-a',
      '99-worker-b',
      '05-infra',
      '10-infra',
    ]);
  });

  it('come in the same order however they are given', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(fleet, { minLength: fleet.length }), (shuffled) => {
        expect(namesFor(infra, shuffled)).toEqual(namesFor(infra, fleet));
      }),
    );
  });
});

describe('a pool whose selector cannot be used', () => {
  it('says which field, and selects nothing', () => {
    const pool: MachineConfigPool = {
      metadata: { name: 'odd' },
      spec: { machineConfigSelector: { matchExpressions: [{ key: roleLabel, operator: 'Is', values: ['worker'] }] } },
    };
    expect(namesFor(pool, fleet)).toEqual([]);
    expect(selectorProblems(pool)).toMatchObject([
      {
        code: 'SLW_RENDER_SELECTOR',
        object: 'MachineConfigPool odd',
        field: 'spec.machineConfigSelector.matchExpressions[0].operator',
        message: expect.stringContaining('expected In, NotIn, Exists or DoesNotExist, found "Is"'),
      },
    ]);
  });

  it('is also one that has no selector', () => {
    expect(selectorProblems({ metadata: { name: 'none' }, spec: {} })).toMatchObject([{ code: 'SLW_RENDER_SELECTOR' }]);
    expect(selectorProblems(workerPool)).toEqual([]);
  });
});
