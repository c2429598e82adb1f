import { describe, expect, it } from 'vitest';
import { maxUnavailableOf, maxUnavailableProblem } from './max-unavailable.ts';

describe('maxUnavailableOf', () => {
  it.each<[number | string | undefined, number, number]>([
    [undefined, 10, 1],
    [1, 10, 1],
    [3, 10, 3],
    [20, 10, 10],
    [0, 10, 1],
    ['3', 10, 3],
    ['10%', 100, 10],
    ['10%', 19, 1],
    ['10%', 5, 1],
    ['50%', 5, 2],
    ['100%', 5, 5],
    ['150%', 5, 5],
    ['0%', 5, 1],
    ['100%', 0, 1],
  ])('%s of %i machines is %i', (value, nodes, expected) => {
    expect(maxUnavailableOf(value, nodes)).toBe(expected);
    expect(maxUnavailableProblem('worker', value)).toBeNull();
  });

  it.each([-1, 1.5, Number.NaN, 'half', '10 %', '%', '-3', ''])(
    '%s counts as 1, and is a problem that names the field',
    (value) => {
      expect(maxUnavailableOf(value, 100)).toBe(1);
      expect(maxUnavailableProblem('worker', value)).toMatchObject({
        code: 'SLW_ROLLOUT_MAX_UNAVAILABLE',
        message: expect.stringContaining('MachineConfigPool worker: spec.maxUnavailable: expected a number'),
      });
    },
  );
});
