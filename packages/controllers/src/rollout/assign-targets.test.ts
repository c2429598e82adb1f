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

describe('the pool’s patch of a decision', () => {
  it('is empty if the pool is up to date', () => {
    expect(buildDecisionPatch(pool({ [rolloutStateAnnotation]: encodeState(state) }), [], unchanged)).toBeNull();
  });

  it('contains the state and the held target together', () => {
    expect(buildDecisionPatch(pool({}), [], { ...unchanged, held: 'rendered-worker-1' })).toEqual({
      [rolloutStateAnnotation]: encodeState(state),
      [targetConfigAnnotation]: 'rendered-worker-1',
    });
  });

  it('removes a held target', () => {
    const annotations = { [rolloutStateAnnotation]: encodeState(state), [targetConfigAnnotation]: 'rendered-worker-1' };
    expect(buildDecisionPatch(pool(annotations), [], unchanged)).toEqual({ [targetConfigAnnotation]: null });
  });

  it('restores a history that a client removed with the whole pool', () => {
    const patch = buildDecisionPatch(pool({}), [record], unchanged);
    expect(JSON.parse(patch?.[rolloutHistoryAnnotation] ?? '')).toEqual([record]);
  });

  it('puts the latest ended rollout first', () => {
    const older = { ...record, config: 'rendered-worker-0' };
    const patch = buildDecisionPatch(pool({}), [older], { ...unchanged, ended: record });
    expect(JSON.parse(patch?.[rolloutHistoryAnnotation] ?? '')).toEqual([record, older]);
  });
});

it('removes an answered request, and records the rollout that it ended', () => {
  const patch = buildRequestPatch(pool({ [rolloutRequestAnnotation]: 'cancel' }), [], { ...unchanged, ended: record });
  expect(patch).toMatchObject({ [rolloutRequestAnnotation]: null, [rolloutStateAnnotation]: encodeState(state) });
  expect(JSON.parse(patch[rolloutHistoryAnnotation] ?? '')).toEqual([record]);
});
