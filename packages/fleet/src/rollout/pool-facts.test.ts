import type { MachineConfigPool } from '@slipway/api';
import {
  rolloutHistoryAnnotation,
  rolloutPolicyAnnotations,
  rolloutStateAnnotation,
  targetConfigAnnotation,
} from '@slipway/api/names';
import { describe, expect, it } from 'vitest';
import { encodeState } from './memory.ts';
import { poolFactsOf } from './pool-facts.ts';
import { NEW, OLD, samplePool, sampleState } from './sample.ts';

const pool = (annotations: Record<string, string>, spec: MachineConfigPool['spec'] = {}): MachineConfigPool => ({
  metadata: { name: 'worker', annotations },
  spec: { configuration: { name: NEW }, ...spec },
  status: { configuration: { name: OLD } },
});

describe('poolFactsOf', () => {
  it('reads all that a rollout is decided on', () => {
    const annotations = { [targetConfigAnnotation]: OLD, [rolloutStateAnnotation]: encodeState(sampleState()) };
    expect(poolFactsOf(pool(annotations, { paused: true, maxUnavailable: '10%' }))).toEqual({
      pool: samplePool({ held: OLD, isPaused: true, maxUnavailable: '10%', state: sampleState() }),
      history: [],
      problems: [],
    });
  });

  it('a pool that was just made has nothing yet', () => {
    expect(poolFactsOf({ metadata: { name: 'worker' }, spec: {} }).pool).toEqual(
      samplePool({ newest: null, proven: null }),
    );
  });

  it.each([
    ['master', true],
    ['arbiter', true],
    ['worker', false],
    ['infra', false],
  ])('%s is of the control plane: %s', (name, isControlPlane) => {
    expect(poolFactsOf({ metadata: { name }, spec: {} }).pool.isControlPlane).toBe(isControlPlane);
  });

  it('what is damaged is left out and told', () => {
    const {
      pool: facts,
      history,
      problems,
    } = poolFactsOf(
      pool(
        {
          [rolloutStateAnnotation]: '{',
          [rolloutHistoryAnnotation]: 'x',
          [rolloutPolicyAnnotations.soak]: 'long',
        },
        { maxUnavailable: 'some' },
      ),
    );
    expect(facts.state).toBeNull();
    expect(history).toEqual([]);
    expect(problems.map(({ code }) => code)).toEqual([
      'SLW_ROLLOUT_POLICY',
      'SLW_ROLLOUT_MAX_UNAVAILABLE',
      'SLW_ROLLOUT_MEMORY',
      'SLW_ROLLOUT_MEMORY',
    ]);
    expect(problems[2]?.message).toContain(`MachineConfigPool worker: annotation ${rolloutStateAnnotation}: expected`);
  });
});
