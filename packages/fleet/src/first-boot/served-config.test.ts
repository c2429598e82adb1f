import { targetConfigAnnotation } from '@slipway/api';
import type { MachineConfigPool } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { servedConfig } from './served-config.ts';

const rendered = (digit: string, pool = 'worker') => `rendered-${pool}-${digit.repeat(32)}`;
const [old, next, held] = [rendered('a'), rendered('b'), rendered('c')];

function pool({ spec, status, target }: { spec?: string; status?: string; target?: string }): MachineConfigPool {
  return {
    metadata: {
      name: 'worker',
      ...(target === undefined ? {} : { annotations: { [targetConfigAnnotation]: target } }),
    },
    spec: spec === undefined ? {} : { configuration: { name: spec } },
    status: status === undefined ? {} : { configuration: { name: status } },
  };
}

describe('the config that new machines are given', () => {
  it.each([
    ['none, while nothing is rendered', {}, [], undefined],
    ['the first one, in a new pool', { spec: next }, [], next],
    ['the current one, while no machine runs the new one', { spec: next, status: old }, [old, old], old],
    ['the new one, once a machine runs it', { spec: next, status: old }, [old, next], next],
    ['the new one, in a pool without machines', { spec: next, status: old }, [], next],
    ['the new one, where only other pools have machines', { spec: next, status: old }, [rendered('a', 'master')], next],
    [
      'the new one, though a pool of a longer name has machines',
      { spec: next, status: old },
      [rendered('a', 'worker-gpu')],
      next,
    ],
    [
      'the new one, where a name only looks rendered',
      { spec: next, status: old },
      [`rendered-worker-${'g'.repeat(32)}`],
      next,
    ],
    ['the new one, where the pool has no current one', { spec: next }, [old], next],
    ['the current one, while the new one is being made', { status: old }, [old], old],
    ['the held one, in a pool without machines', { spec: next, status: old, target: held }, [], held],
    ['the held one, once a machine runs it', { spec: next, status: old, target: held }, [held, next], held],
    ['the current one, while no machine runs the held one', { spec: next, status: old, target: held }, [next], old],
    ['the new one, where the hold is empty', { spec: next, target: '' }, [], next],
  ])('is %s', (_, given, currentConfigs, expected) => {
    expect(servedConfig(pool(given), currentConfigs)).toBe(expected);
  });
});
