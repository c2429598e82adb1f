import {
  rolloutHistoryAnnotation,
  rolloutRequestAnnotation,
  rolloutStateAnnotation,
  targetConfigAnnotation,
} from '@slipway/api';
import { encodeState } from '@slipway/fleet';
import { describe, expect, it } from 'vitest';
import { buildDecisionPatch, buildRequestPatch } from './assign-targets.ts';
import { record, state } from './testing/sample-rollout.ts';

const pool = (annotations: Record<string, string>) => ({ metadata: { name: 'worker', annotations }, spec: {} });
const unchanged = { state, held: null, ended: null };

describe('what a decision changes of a pool', () => {
  it('is nothing where the pool says so already', () => {
    expect(buildDecisionPatch(pool({ [rolloutStateAnnotation]: encodeState(state) }), [], unchanged)).toBeNull();
  });

  it('is the state and the held target together', () => {
    expect(buildDecisionPatch(pool({}), [], { ...unchanged, held: 'rendered-worker-1' })).toEqual({
      [rolloutStateAnnotation]: encodeState(state),
      [targetConfigAnnotation]: 'rendered-worker-1',
    });
  });

  it('takes a held target away', () => {
    const annotations = { [rolloutStateAnnotation]: encodeState(state), [targetConfigAnnotation]: 'rendered-worker-1' };
    expect(buildDecisionPatch(pool(annotations), [], unchanged)).toEqual({ [targetConfigAnnotation]: null });
  });

  it('puts a rollout that ended before those that ended earlier', () => {
    const older = { ...record, config: 'rendered-worker-0' };
    const patch = buildDecisionPatch(pool({}), [older], { ...unchanged, ended: record });
    expect(JSON.parse(patch?.[rolloutHistoryAnnotation] ?? '')).toEqual([record, older]);
  });
});

it('the answer to a request takes it away, and keeps the rollout that it ended', () => {
  const patch = buildRequestPatch(pool({ [rolloutRequestAnnotation]: 'cancel' }), [], { ...unchanged, ended: record });
  expect(patch).toMatchObject({ [rolloutRequestAnnotation]: null, [rolloutStateAnnotation]: encodeState(state) });
  expect(JSON.parse(patch[rolloutHistoryAnnotation] ?? '')).toEqual([record]);
});
