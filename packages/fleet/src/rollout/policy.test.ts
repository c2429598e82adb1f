import { rolloutPolicyAnnotations } from '@slipway/api/names';
import { describe, expect, it } from 'vitest';
import {
  defaultRolloutPolicy,
  computeMaxUnavailable,
  maxUnavailableProblem,
  parseRolloutPolicy,
  type RolloutPolicy,
  waveSizes,
} from './policy.ts';

const { waves, soak, onFailure, hold } = rolloutPolicyAnnotations;
const whole = { percent: 100 };

describe('parseRolloutPolicy', () => {
  it('by default, one machine is updated first, and a failure halts the rollout', () => {
    expect(parseRolloutPolicy(undefined)).toEqual({ policy: defaultRolloutPolicy, problems: [] });
    expect(parseRolloutPolicy({ 'other/annotation': 'x' })).toEqual({ policy: defaultRolloutPolicy, problems: [] });
  });

  it.each<[string, string, Partial<RolloutPolicy>]>([
    [waves, '1,10%,100%', { waves: [{ nodes: 1 }, { percent: 10 }, whole] }],
    [waves, ' 2 , 50% ', { waves: [{ nodes: 2 }, { percent: 50 }, whole] }],
    [waves, '100%', { waves: [whole] }],
    [waves, '5', { waves: [{ nodes: 5 }, whole] }],
    [soak, '0', { soakMs: 0 }],
    [soak, '90s', { soakMs: 90_000 }],
    [soak, '10m', { soakMs: 600_000 }],
    [soak, '1h30m', { soakMs: 5_400_000 }],
    [onFailure, 'return', { onFailure: 'return' }],
    [onFailure, 'halt', { onFailure: 'halt' }],
    [hold, 'until-resume', { hold: 'until-resume' }],
    [hold, 'until-new-render', { hold: 'until-new-render' }],
  ])('%s: %s', (annotation, value, policy) => {
    expect(parseRolloutPolicy({ [annotation]: value })).toEqual({
      policy: { ...defaultRolloutPolicy, ...policy },
      problems: [],
    });
  });

  it.each<[string, string]>([
    [waves, ''],
    [waves, '0,100%'],
    [waves, '1,,2'],
    [waves, '5,1'],
    [waves, '50%,10%'],
    [waves, '1,101%'],
    [waves, 'ten'],
    [waves, Array.from({ length: 30 }, (_, index) => index + 1).join(',')],
    [soak, '10'],
    [soak, '-5m'],
    [soak, '999h'],
    [soak, 'a while'],
    [onFailure, 'rollback'],
    [hold, 'forever'],
  ])(
    '%s: "%s" is a problem that names the annotation and the value, and the careful value is in force',
    (annotation, value) => {
      const { policy, problems } = parseRolloutPolicy({ [annotation]: value });
      expect(policy).toEqual({ ...defaultRolloutPolicy, ...(annotation === hold && { hold: 'until-resume' }) });
      expect(problems).toEqual([
        {
          code: 'SLW_ROLLOUT_POLICY',
          message: expect.stringContaining(`annotation ${annotation} of the pool: expected `) as string,
        },
      ]);
      expect(problems[0]?.message).toContain(`found "${value.slice(0, 80)}`);
    },
  );

  it('one invalid value does not affect the others', () => {
    const { policy, problems } = parseRolloutPolicy({ [waves]: 'x', [soak]: '5m' });
    expect(policy).toMatchObject({ waves: defaultRolloutPolicy.waves, soakMs: 300_000 });
    expect(problems).toHaveLength(1);
  });
});

describe('waveSizes', () => {
  const sizes = (text: string, nodes: number): number[] =>
    waveSizes(parseRolloutPolicy({ [waves]: text }).policy, nodes);

  it.each<[string, number, number[]]>([
    ['1,100%', 5, [1, 5]],
    ['1,100%', 1, [1]],
    ['1,100%', 0, []],
    ['1,10%,100%', 100, [1, 10, 100]],
    ['1,10%,100%', 5, [1, 5]],
    ['10%,50%,100%', 15, [2, 8, 15]],
    ['3,10,100%', 8, [3, 8]],
  ])('%s of %i machines: %j', (text, nodes, expected) => {
    expect(sizes(text, nodes)).toEqual(expected);
  });
});

describe('computeMaxUnavailable', () => {
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
    expect(computeMaxUnavailable(value, nodes)).toBe(expected);
    expect(maxUnavailableProblem('worker', value)).toBeNull();
  });

  it.each([-1, 1.5, Number.NaN, 'half', '10 %', '%', '-3', ''])(
    '%s counts as 1, and is a problem that names the field',
    (value) => {
      expect(computeMaxUnavailable(value, 100)).toBe(1);
      expect(maxUnavailableProblem('worker', value)).toMatchObject({
        code: 'SLW_ROLLOUT_MAX_UNAVAILABLE',
        message: expect.stringContaining('MachineConfigPool worker, spec.maxUnavailable: expected a number'),
      });
    },
  );
});
