import { samplePool } from '@slipway/fleet/testing';
import { describe, expect, it } from 'vitest';
import { type RolloutAnswer, type PoolRequestState, readRequestState } from './request.ts';

const old: RolloutAnswer = { request: 'cancel', at: '2026-01-02T03:00:00.000Z', ok: false, text: 'nothing to cancel' };
const answer: RolloutAnswer = { request: 'cancel', at: '2026-01-02T03:05:00.000Z', ok: true, text: 'cancelled' };

describe('a request to a pool', () => {
  it.each<[string, ReturnType<typeof samplePool>, PoolRequestState]>([
    [
      'waits while it is on the pool, despite an earlier answer',
      samplePool({ request: 'cancel', state: { answer: old } }),
      { type: 'waiting' },
    ],
    ['is answered', samplePool({ state: { answer } }), { type: 'answered', answer }],
    ['is not answered by an earlier answer', samplePool({ state: { answer: old } }), { type: 'gone' }],
    [
      'is not answered by the answer to another one',
      samplePool({ state: { answer: { ...answer, request: 'resume' } } }),
      { type: 'gone' },
    ],
    ['is gone if another request replaced it', samplePool({ request: 'resume', state: {} }), { type: 'gone' }],
    ['is gone if the pool has no rollout state', samplePool({}), { type: 'gone' }],
  ])('%s', (_, pool, asked) => {
    expect(readRequestState(pool, 'cancel', old)).toEqual(asked);
  });
});
