import { describe, expect, it } from 'vitest';
import { answerRequest, type RequestInput } from './answer-request.ts';
import { decideRollout } from './decide-rollout.ts';
import type { NodeFacts, PoolFacts, RolloutRecord } from './facts.ts';
import { defaultRolloutPolicy } from './policy.ts';
import {
  at,
  MINUTE,
  NEW,
  NEXT,
  NOW,
  OLD,
  sampleNode,
  sampleNodes,
  samplePool,
  sampleRequest,
  sampleState,
} from './testing/sample.ts';

const record = (config: string, more: Partial<RolloutRecord> = {}): RolloutRecord => ({
  config,
  from: null,
  startedAt: at(-90),
  endedAt: at(-60),
  outcome: 'completed',
  nodes: 3,
  capacity: 1,
  why: '',
  ...more,
});

const underWay: Partial<PoolFacts> = { state: sampleState() };
const done: Partial<PoolFacts> = { proven: NEW, state: sampleState({ endedAt: at(-5) }) };
const half: readonly NodeFacts[] = [sampleNode('worker-9', { current: NEW }), ...sampleNodes(2)];

const answerWith = (request: string, pool: Partial<PoolFacts>, more: Partial<RequestInput> = {}) =>
  answerRequest(request, {
    pool: samplePool(pool),
    nodes: half,
    history: [],
    knownConfigs: new Set([OLD, NEW, NEXT, 'rendered-worker-gpu-a', 'rendered-master-a']),
    now: NOW,
    ...more,
  });

const refusal = (request: string, pool: Partial<PoolFacts>, more: Partial<RequestInput> = {}): string => {
  const { answer, ended, held, state } = answerWith(request, pool, more);
  expect(answer).toMatchObject({ ok: false, request, at: at(0) });
  expect(ended).toBeNull();
  expect(held).toBe(pool.held ?? null);
  expect(state).toEqual(pool.state === null || pool.state === undefined ? null : { ...pool.state, answer });
  return answer.text;
};

describe('cancel', () => {
  it('returns to the last good config, and holds the pool there until a new config is rendered', () => {
    const { state, held, answer, ended } = answerWith('cancel', underWay);
    expect(held).toBe(OLD);
    expect(state).toMatchObject({ target: OLD, hold: { kind: 'cancel', instead: NEW }, answer, endedAt: null });
    expect(answer).toMatchObject({
      ok: true,
      text: `pool worker now targets ${OLD} and stays there until a new config is rendered or you run slipway resume worker`,
    });
    expect(ended).toMatchObject({ config: NEW, outcome: 'superseded' });
    const decision = decideRollout(sampleRequest({ held, state }, half));
    expect(decision).toMatchObject({ target: OLD, held: OLD });
    expect(decision.give.map(({ node }) => node)).toEqual(['worker-9']);
  });

  it('works before the first assignment, also while the pool is paused', () => {
    const before = sampleState({ target: OLD, from: null, endedAt: at(-5) });
    for (const state of [null, before]) {
      expect(answerWith('cancel', { isPaused: true, state })).toMatchObject({
        held: OLD,
        answer: { ok: true },
        ended: null,
      });
    }
  });

  it('of a rollback returns to the newest config', () => {
    const hold = { kind: 'rollback', instead: NEW, at: at(-5), why: 'a user asked' } as const;
    const pool = { proven: NEW, held: OLD, state: sampleState({ target: OLD, from: NEW, hold }) };
    expect(answerWith('cancel', pool)).toMatchObject({ held: null, state: { target: NEW, hold: null } });
  });

  it('is refused where there is nothing to cancel', () => {
    expect(refusal('cancel', done)).toContain('slipway rollback worker');
    const hold = { kind: 'return', instead: NEW, at: at(-5), why: 'it broke' } as const;
    expect(refusal('cancel', { held: OLD, state: sampleState({ target: OLD, hold }) })).toContain(
      'already rolling back to',
    );
  });

  it('is refused where no good config is known, or it no longer exists', () => {
    expect(refusal('cancel', { proven: null, state: sampleState({ from: null }) })).toContain('slipway pause worker');
    expect(refusal('cancel', underWay, { knownConfigs: new Set([NEW]) })).toContain(
      `MachineConfig ${OLD} no longer exists`,
    );
  });

  it('is refused if it would lower the major version of the OS', () => {
    const nodes = [sampleNode('worker-9', { current: NEW, osImage: 'CoreOS 10.0.1' }), ...sampleNodes(2)];
    expect(refusal('cancel', underWay, { nodes })).toContain('SLW_ROLLOUT_OS_DOWNGRADE');
  });
});

describe('rollback', () => {
  it('returns to the last config that every machine had', () => {
    const history = [record(NEW), record(NEXT, { outcome: 'superseded' }), record(OLD)];
    const { held, state } = answerWith('rollback', done, { history });
    expect(held).toBe(OLD);
    expect(state).toMatchObject({ target: OLD, from: NEW, hold: { kind: 'rollback', instead: NEW }, wave: 1 });
  });

  it('proceeds in waves, like any rollout', () => {
    const { held, state } = answerWith('rollback', done, {
      history: [record(OLD)],
      nodes: sampleNodes(4, { current: NEW }),
    });
    const decision = decideRollout(
      sampleRequest({ ...done, held, state, maxUnavailable: 4 }, sampleNodes(4, { current: NEW })),
    );
    expect(decision.wave).toMatchObject({ number: 1, of: 2 });
    expect(decision.give).toHaveLength(1);
  });

  it('returns to the named config', () => {
    expect(answerWith(`rollback=${NEXT}`, done)).toMatchObject({
      held: NEXT,
      state: { target: NEXT },
      answer: { ok: true },
    });
  });

  it('during a rollout returns to the config that the rollout started from', () => {
    expect(answerWith('rollback', underWay)).toMatchObject({ held: OLD, ended: { outcome: 'superseded' } });
  });

  it('to the newest config ends a hold', () => {
    const hold = { kind: 'rollback', instead: NEW, at: at(-5), why: 'a user asked' } as const;
    const pool = { proven: OLD, held: OLD, state: sampleState({ target: OLD, endedAt: at(-1), hold }) };
    expect(answerWith(`rollback=${NEW}`, pool)).toMatchObject({ held: null, state: { target: NEW, hold: null } });
  });

  it('reports what ends the hold', () => {
    const policy = { ...defaultRolloutPolicy, hold: 'until-resume' } as const;
    expect(answerWith(`rollback=${OLD}`, { ...done, policy }).answer.text).toContain(
      'stays there until you run slipway resume worker',
    );
  });

  it.each([
    ['rollback', 'lists no config before'],
    [`rollback=${NEW}`, 'already'],
    ['rollback=rendered-master-a', 'expected a rendered MachineConfig of pool worker'],
    ['rollback=rendered-worker-gpu-a', 'expected a rendered MachineConfig of pool worker'],
    ['rollback=', 'expected a rendered MachineConfig of pool worker'],
    ['rollback=rendered-worker-gone', 'no longer exists'],
  ])('%s is refused', (request, text) => {
    expect(refusal(request, { ...done, state: sampleState({ endedAt: at(-5), from: null }) })).toContain(text);
  });

  it('is refused if it would lower the major version of the OS, even if no machine runs the old one', () => {
    const nodes = sampleNodes(2, { current: NEW, osImage: 'CoreOS 10.0.1' });
    expect(refusal(`rollback=${OLD}`, done, { nodes })).toContain('SLW_ROLLOUT_OS_DOWNGRADE');
    const history = [record(NEXT, { osMajor: 9 })];
    expect(refusal(`rollback=${NEXT}`, done, { nodes, history })).toContain('worker-1, worker-2 run OS version 10');
    expect(answerWith(`rollback=${NEXT}`, done, { nodes, history: [record(NEXT, { osMajor: 10 })] }).answer.ok).toBe(
      true,
    );
  });
});

describe('resume', () => {
  const failed = { desired: NEW, state: 'Degraded', givenAt: NOW - 5 * MINUTE } as const;

  it('ends a halt, and the same machine does not halt the rollout again', () => {
    const halted = { at: at(-5), node: 'worker-9', reason: 'it broke' };
    const { state, held, answer } = answerWith('resume', { state: sampleState({ halted }) });
    expect(answer).toMatchObject({ ok: true, text: `the rollout of ${NEW} continues without waiting for worker-9` });
    expect(held).toBeNull();
    expect(state).toMatchObject({ target: NEW, halted: null, resumedAt: at(0) });
    const nodes = [sampleNode('worker-9', failed), ...sampleNodes(2)];
    expect(decideRollout(sampleRequest({ state, maxUnavailable: 2 }, nodes))).toMatchObject({
      phase: 'updating',
      give: [{ node: 'worker-1' }],
    });
  });

  it('continues without a machine that stays down', () => {
    const nodes = [sampleNode('worker-9', { current: NEW, isReady: false, givenAt: NOW - MINUTE }), ...sampleNodes(2)];
    const { state, answer } = answerWith('resume', underWay, { nodes });
    expect(answer.text).toContain('without waiting for worker-9');
    expect(decideRollout(sampleRequest({ state, maxUnavailable: 2 }, nodes)).wave).toMatchObject({ number: 2 });
  });

  it('continues without a machine that has drifted', () => {
    const drifted = { ...failed, current: NEW, hasDrifted: true };
    const nodes = [sampleNode('worker-9', drifted), ...sampleNodes(2)];
    const { state, answer } = answerWith('resume', underWay, { nodes });
    expect(answer.text).toContain('without waiting for worker-9');
    expect(decideRollout(sampleRequest({ state, maxUnavailable: 2 }, nodes)).wave).toMatchObject({ number: 2 });
  });

  it('ends a hold', () => {
    const hold = { kind: 'return', instead: NEW, at: at(-5), why: 'it broke' } as const;
    const policy = { ...defaultRolloutPolicy, hold: 'until-resume' } as const;
    const pool = { held: OLD, policy, state: sampleState({ target: OLD, from: null, endedAt: at(-1), hold }) };
    expect(answerWith('resume', pool)).toMatchObject({
      held: null,
      ended: null,
      state: { target: NEW, from: OLD, hold: null, endedAt: null },
      answer: { ok: true, text: `pool worker is no longer held (it broke) and now targets ${NEW}` },
    });
  });

  it('ends a hold that a user set by hand', () => {
    expect(answerWith('resume', { held: OLD, state: null })).toMatchObject({ held: null, state: { target: NEW } });
  });

  it('is refused where nothing is halted or held', () => {
    expect(refusal('resume', done)).toContain('neither halted nor held');
    expect(refusal('resume', underWay)).toContain('neither halted nor held');
  });
});

describe('any other request', () => {
  it.each(['', 'stop', 'cancel now', 'x'.repeat(5000)])('is refused with what was expected: %#', (request) => {
    const { answer } = answerWith(request, underWay);
    expect(answer.ok).toBe(false);
    expect(answer.text).toContain('expected cancel, resume, rollback or rollback=');
    expect(answer.text).toContain('SLW_ROLLOUT_REQUEST');
    expect(JSON.stringify(answer).length).toBeLessThan(2000);
  });

  it('is refused before anything was rendered, and there is no state to store it in', () => {
    expect(refusal('cancel', { newest: null, state: null })).toContain('nothing has been rendered');
  });
});

describe('a pool with a target that was not rendered for it', () => {
  const aimed: Partial<PoolFacts> = { held: 'rendered-master-a', proven: OLD };

  it('is released by resume', () => {
    const { held, state, answer } = answerWith('resume', aimed);
    expect(held).toBeNull();
    expect(state).toMatchObject({ target: NEW, hold: null });
    expect(answer).toMatchObject({
      ok: true,
      text: expect.stringContaining('rendered-master-a was not rendered for it'),
    });
  });

  it('can be rolled back to a config of its own', () => {
    expect(answerWith(`rollback=${OLD}`, aimed)).toMatchObject({ held: OLD, answer: { ok: true } });
  });

  it('answers why nothing can be requested while spec.configuration names it', () => {
    expect(refusal('resume', { newest: '99-worker-motd' })).toMatch(
      /spec\.configuration\.name: expected.*SLW_ROLLOUT_TARGET/,
    );
  });
});
