import { roleLabel, type MachineConfigPool } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { followsWorker } from './follows-worker.ts';

type Selector = MachineConfigPool['spec']['machineConfigSelector'];
const roles = (operator: string, ...values: string[]): Selector => ({
  matchExpressions: [{ key: roleLabel, operator, values }],
});

describe('a pool has the OS of worker', () => {
  it.each<[boolean, string, string, Selector]>([
    [true, 'infra', 'worker’s MachineConfigs and its own', roles('In', 'worker', 'infra')],
    [true, 'infra', 'worker’s alone', { matchLabels: { [roleLabel]: 'worker' } }],
    [true, 'infra', 'those of every role', roles('Exists')],
    [true, 'infra', 'all', {}],
    [false, 'infra', 'its own alone', { matchLabels: { [roleLabel]: 'infra' } }],
    [false, 'infra', 'all but worker’s', roles('NotIn', 'worker')],
    [false, 'infra', 'some of worker’s, by another label', { matchLabels: { [roleLabel]: 'worker', team: 'a' } }],
    [false, 'infra', 'none, by a selector that cannot be used', roles('Like', 'worker')],
    [false, 'infra', 'none, without a selector', undefined],
    [false, 'worker', 'worker’s', { matchLabels: { [roleLabel]: 'worker' } }],
    [false, 'master', 'worker’s too', roles('In', 'worker', 'master')],
    [false, 'arbiter', 'worker’s too', roles('In', 'worker', 'arbiter')],
  ])('%s: %s, which takes %s', (expected, name, _, machineConfigSelector) => {
    const spec = machineConfigSelector === undefined ? {} : { machineConfigSelector };
    expect(followsWorker({ metadata: { name }, spec })).toBe(expected);
  });
});
