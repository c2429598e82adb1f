import { type MachineConfigPool, roleLabel } from '@slipway/api';
import { takesSet } from '@slipway/fleet';
import { describe, expect, it } from 'vitest';
import { labelsMatching } from './matching-labels.ts';

type Selector = MachineConfigPool['spec']['machineConfigSelector'];
const poolWith = (selector: Selector, name = 'infra'): MachineConfigPool => ({
  metadata: { name },
  spec: selector === undefined ? {} : { machineConfigSelector: selector },
});
const role = (operator: string, ...values: string[]) => ({
  key: roleLabel,
  operator,
  ...(values.length > 0 && { values }),
});

describe('the labels of a new set', () => {
  it.each<[string, Selector, object]>([
    ['the labels of the selector', { matchLabels: { [roleLabel]: 'infra', a: 'b' } }, { [roleLabel]: 'infra', a: 'b' }],
    [
      'of several roles the pool’s own, not worker’s, which all workers would take',
      { matchExpressions: [role('In', 'worker', 'infra')] },
      { [roleLabel]: 'infra' },
    ],
    ['else the first', { matchExpressions: [role('In', 'worker', 'gpu')] }, { [roleLabel]: 'worker' }],
    ['a label that only has to be there', { matchExpressions: [role('Exists')] }, { [roleLabel]: '' }],
    [
      'nothing for what must not be there',
      {
        matchLabels: { a: 'b' },
        matchExpressions: [role('DoesNotExist'), { key: 'c', operator: 'NotIn', values: ['d'] }],
      },
      { a: 'b' },
    ],
  ])('are %s', (_, selector, labels) => {
    const pool = poolWith(selector);
    expect(labelsMatching(pool)).toEqual(labels);
    expect(takesSet(pool, { metadata: { name: 'x', labels: labelsMatching(pool) } })).toBe(true);
  });

  it.each<[string, Selector]>([
    ['no selector', undefined],
    ['one that selects everything', {}],
    [
      'one that no label can match',
      { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] },
    ],
    ['one that only refuses', { matchExpressions: [role('NotIn', 'worker')] }],
    ['one that cannot be understood', { matchLabels: { a: 'b' }, matchExpressions: [role('Like', 'x')] }],
  ])('cannot be told of a pool with %s, and the error says what to do', (_, selector) => {
    expect(() => labelsMatching(poolWith(selector))).toThrow(
      expect.objectContaining({
        code: 'SLW_CLI_PIN_POOL',
        message: expect.stringMatching(
          /^MachineConfigPool infra: spec\.machineConfigSelector: .*spec\.pinnedImageSets/,
        ),
      }),
    );
  });
});
