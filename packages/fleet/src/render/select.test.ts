import { builtInLabel, type MachineConfig, type MachineConfigPool, ROLE_LABEL } from '@slipway/api';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LabelSelector, matchesSelector, selectMachineConfigs, selectorProblems } from './select.ts';
import { machineConfig, workerPool } from './testing/sample.ts';

const infra: MachineConfigPool = {
  metadata: { name: 'infra' },
  spec: {
    machineConfigSelector: { matchExpressions: [{ key: ROLE_LABEL, operator: 'In', values: ['worker', 'infra'] }] },
  },
};

const builtIn = (name: string, role: string): MachineConfig => ({
  metadata: { name, labels: { [ROLE_LABEL]: role, [builtInLabel]: '' } },
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

  it('of a custom pool are those of role worker, then those of its role, whatever their names', () => {
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

  it('have the same order for any input order', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(fleet, { minLength: fleet.length }), (shuffled) => {
        expect(namesFor(infra, shuffled)).toEqual(namesFor(infra, fleet));
      }),
    );
  });
});

describe('a pool whose selector cannot be used', () => {
  it('reports the field, and selects nothing', () => {
    const pool: MachineConfigPool = {
      metadata: { name: 'odd' },
      spec: { machineConfigSelector: { matchExpressions: [{ key: ROLE_LABEL, operator: 'Is', values: ['worker'] }] } },
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

  it.each<[string, LabelSelector, string]>([
    ['worker', {}, `Set matchLabels to ${ROLE_LABEL}: worker`],
    ['arbiter', { matchLabels: {}, matchExpressions: [] }, `Set matchLabels to ${ROLE_LABEL}: arbiter`],
    ['infra', {}, `Set matchExpressions to one entry with key ${ROLE_LABEL}, operator In, values worker and infra`],
  ])('is also one whose selector is empty, with what to write: %s', (name, machineConfigSelector, remediation) => {
    const pool: MachineConfigPool = { metadata: { name }, spec: { machineConfigSelector } };
    expect(namesFor(pool, fleet)).toEqual([]);
    expect(selectorProblems(pool).map(({ message }) => message)).toEqual([
      `MachineConfigPool ${name}, spec.machineConfigSelector: an empty selector means all MachineConfigs, also those of other pools, so none is selected. ${remediation}`,
    ]);
  });
});

const one = (key: string, operator: string, values?: string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, ...(values === undefined ? {} : { values }) }],
});

describe('a label selector', () => {
  it.each<[string, LabelSelector | undefined, Record<string, string> | undefined, boolean]>([
    ['no selector selects nothing', undefined, { role: 'a' }, false],
    ['an empty selector selects everything', {}, undefined, true],
    ['a label with the value', { matchLabels: { role: 'a' } }, { role: 'a', more: 'x' }, true],
    ['a label with another value', { matchLabels: { role: 'a' } }, { role: 'b' }, false],
    ['an empty value is not an absent label', { matchLabels: { role: '' } }, {}, false],
    ['every label must match', { matchLabels: { role: 'a', zone: 'z' } }, { role: 'a' }, false],
    ['In with the value', one('role', 'In', ['a', 'b']), { role: 'b' }, true],
    ['In with another value', one('role', 'In', ['a', 'b']), { role: 'c' }, false],
    ['In without the label', one('role', 'In', ['a']), {}, false],
    ['NotIn with the value', one('role', 'NotIn', ['a']), { role: 'a' }, false],
    ['NotIn without the label', one('role', 'NotIn', ['a']), {}, true],
    ['Exists with any value', one('role', 'Exists'), { role: '' }, true],
    ['Exists without the label', one('role', 'Exists'), {}, false],
    ['DoesNotExist with the label', one('role', 'DoesNotExist'), { role: 'a' }, false],
    ['DoesNotExist without the label', one('role', 'DoesNotExist'), undefined, true],
    ['labels and expressions together', { matchLabels: { role: 'a' }, ...one('zone', 'Exists') }, { role: 'a' }, false],
    ['an unknown operator selects nothing', one('role', 'in', ['a']), { role: 'a' }, false],
    ['In without values selects nothing', one('role', 'In', []), { role: 'a' }, false],
    ['Exists with values selects nothing', one('role', 'Exists', ['a']), { role: 'a' }, false],
    ['a key of every object is no label', one('constructor', 'Exists'), {}, false],
  ])('%s', (_, selector, labels, expected) => {
    expect(matchesSelector(selector, labels)).toBe(expected);
  });
});
