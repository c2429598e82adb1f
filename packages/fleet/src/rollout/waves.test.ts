import { describe, expect, it } from 'vitest';
import { decideRollout } from './decide-rollout.ts';
import type { NodeFacts, PoolFacts, RolloutRecord, RolloutState } from './facts.ts';
import { defaultRolloutPolicy, type RolloutPolicy } from './policy.ts';
import {
  afterwards,
  at,
  MINUTE,
  NEW,
  NOW,
  OLD,
  sampleNode,
  sampleNodes,
  sampleRequest,
  sampleState,
} from './testing/sample.ts';
import { estimateSeconds } from './waves.ts';

const three: RolloutPolicy = {
  ...defaultRolloutPolicy,
  waves: [{ nodes: 1 }, { percent: 50 }, { percent: 100 }],
};
const soaking: RolloutPolicy = { ...defaultRolloutPolicy, soakMs: 10 * MINUTE };

/** First nodes with the new config, then those without; only waves limit the rollout. */
function decideWave(have: number, haveNot: number, state: Partial<RolloutState>, pool: Partial<PoolFacts> = {}) {
  const nodes = [...sampleNodes(have, { current: NEW, desired: NEW, givenAt: NOW - 5 * MINUTE }), ...old(haveNot)];
  return decideRollout(
    sampleRequest({ policy: three, maxUnavailable: '100%', state: sampleState(state), ...pool }, nodes),
  );
}
const old = (count: number, facts: Partial<NodeFacts> = {}): NodeFacts[] =>
  Array.from({ length: count }, (_, index) => sampleNode(`old-worker-${index + 1}`, facts));

describe('waves', () => {
  it('each update as many nodes as their size, and no more', () => {
    expect(decideWave(0, 10, {}).give).toHaveLength(1);
    expect(decideWave(1, 9, {})).toMatchObject({ wave: { number: 2, of: 3, size: 5 }, state: { wave: 2 } });
    expect(decideWave(1, 9, {}).give).toHaveLength(4);
    expect(decideWave(5, 5, { wave: 2 })).toMatchObject({ wave: { number: 3, size: 10 } });
    expect(decideWave(5, 5, { wave: 2 }).give).toHaveLength(5);
  });

  it.each<[string, Partial<NodeFacts>]>([
    ['updating', { current: OLD, state: 'Working' }],
    ['not ready', { isReady: false }],
    ['not uncordoned yet', { isCordoned: true, isCordonedByUs: true }],
    ['drifted', { state: 'Degraded', hasDrifted: true }],
  ])('the next wave waits for a node that is %s', (_, facts) => {
    const canary = sampleNode('canary', { current: NEW, desired: NEW, givenAt: NOW - MINUTE, ...facts });
    const decision = decideRollout(
      sampleRequest({ maxUnavailable: 5, state: sampleState() }, [canary, ...sampleNodes(3)]),
    );
    expect(decision).toMatchObject({ give: [], wave: { number: 1 }, state: { wave: 1 } });
    expect(decision.nodes.get('worker-1')?.why).toContain('the next wave starts when canary is healthy');
  });

  it('the next wave waits for an updating node even after a resume', () => {
    const canary = sampleNode('canary', { desired: NEW, state: 'Working', givenAt: NOW - MINUTE });
    const request = sampleRequest({ maxUnavailable: 5, state: sampleState({ resumedAt: at(0) }) }, [canary, ...old(3)]);
    expect(decideRollout(request)).toMatchObject({ give: [], wave: { number: 1 } });
  });

  it('a node that joined with the target does not start a wave while the canary is updating', () => {
    const canary = sampleNode('canary', { desired: NEW, state: 'Rebooting', isReady: false, readyChangedAt: NOW });
    const born = sampleNode('born', { current: NEW });
    const decision = decideRollout(
      sampleRequest({ maxUnavailable: 5, state: sampleState() }, [canary, born, ...sampleNodes(3)]),
    );
    expect(decision).toMatchObject({ give: [], wave: { number: 1 } });
  });

  it('a node that reported the target before it was assigned is not the canary, and takes no place of one', () => {
    const liar = sampleNode('liar', { current: NEW, desired: OLD });
    const request = sampleRequest({ maxUnavailable: 5, state: sampleState() }, [liar, ...sampleNodes(3)]);
    const decision = decideRollout(request);
    expect(decision.give.map(({ node }) => node)).toEqual(['liar', 'worker-1']);
    const after = decideRollout(afterwards(request, decision));
    expect(after).toMatchObject({ give: [], wave: { number: 1 }, state: { wave: 1 } });
    expect(after.nodes.get('worker-2')?.why).toContain('the next wave starts when worker-1 is healthy');
  });

  it('a node that reported the target before it was assigned ends no first wave while no other can be updated', () => {
    const liar = sampleNode('liar', { current: NEW, desired: NEW, hadItBefore: true });
    const request = sampleRequest({ state: sampleState() }, [liar, ...sampleNodes(3, { isCordoned: true })]);
    expect(decideRollout(request)).toMatchObject({ give: [], wave: { number: 1 }, state: { wave: 1 } });
  });

  it('a pool in which all but one node had the target before completes in its first wave', () => {
    const had = sampleNodes(5, { current: NEW, hadItBefore: true });
    const request = sampleRequest({ policy: three, state: sampleState() }, [...had, sampleNode('last')]);
    const decision = decideRollout(request);
    expect(decision.give.map(({ node }) => node)).toEqual(['last']);
    const done = { ...afterwards(request, decision), nodes: [...had, sampleNode('last', { current: NEW })] };
    expect(decideRollout(done)).toMatchObject({ phase: 'updated', state: { endedAt: at(0) } });
  });

  it('a started wave continues while its nodes are updating', () => {
    const moving = sampleNodes(2, { desired: NEW, state: 'Working', givenAt: NOW - MINUTE });
    const nodes = [sampleNode('canary', { current: NEW }), ...moving, ...old(7)];
    const decision = decideRollout(
      sampleRequest({ policy: three, maxUnavailable: 4, state: sampleState({ wave: 2 }) }, nodes),
    );
    expect(decision.give).toHaveLength(2);
  });

  it('a cancel has no waves', () => {
    const hold = { kind: 'cancel', instead: 'rendered-worker-c', at: at(-1), why: 'a user cancelled it' } as const;
    const decision = decideWave(0, 4, { hold }, { held: NEW, newest: 'rendered-worker-c' });
    expect(decision.give).toHaveLength(4);
    expect(decision.summary).toContain(`Cancelled, rolling back to ${NEW}: a user cancelled it`);
  });

  it('a shrinking pool does not reset the wave', () => {
    expect(decideWave(1, 0, { wave: 3 })).toMatchObject({ phase: 'updated' });
    expect(decideWave(1, 1, { wave: 3 })).toMatchObject({ wave: { number: 2, of: 2, size: 2 } });
  });
});

describe('soak', () => {
  it('starts when the wave is healthy, lasts its time, and is stored', () => {
    const first = decideWave(1, 3, {}, { policy: soaking });
    expect(first).toMatchObject({ give: [], state: { wave: 1, healthySince: at(0) }, lookAgainAt: NOW + 10 * MINUTE });
    expect(first.nodes.get('old-worker-1')?.why).toContain(`must stay healthy until ${at(10)}`);
    expect(decideWave(1, 3, { healthySince: at(-9) }, { policy: soaking })).toMatchObject({
      give: [],
      lookAgainAt: NOW + MINUTE,
    });
    const soaked = decideWave(1, 3, { healthySince: at(-10) }, { policy: soaking });
    expect(soaked).toMatchObject({ state: { wave: 2, healthySince: null }, lookAgainAt: null });
    expect(soaked.give).toHaveLength(3);
  });

  it('applies to each wave', () => {
    const policy = { ...three, soakMs: 10 * MINUTE };
    expect(decideWave(5, 5, { healthySince: at(-10) }, { policy })).toMatchObject({
      give: [],
      wave: { number: 2 },
      state: { wave: 2, healthySince: at(0) },
    });
  });

  it('starts again after a node was unhealthy', () => {
    const nodes = [sampleNode('canary', { current: NEW, isReady: false }), ...sampleNodes(2)];
    const state = sampleState({ healthySince: at(-9) });
    expect(decideRollout(sampleRequest({ policy: soaking, state }, nodes)).state).toMatchObject({ healthySince: null });
  });

  it('costs no write if the policy has none', () => {
    const state = sampleState({ wave: 2 });
    const nodes = [sampleNode('canary', { current: NEW }), ...sampleNodes(2)];
    expect(decideRollout(sampleRequest({ state }, nodes)).state).toBe(state);
  });
});

const took = (minutes: number, more: Partial<RolloutRecord> = {}): RolloutRecord => ({
  config: NEW,
  from: OLD,
  startedAt: at(-minutes),
  endedAt: at(0),
  outcome: 'completed',
  nodes: 6,
  capacity: 2,
  why: '',
  ...more,
});

describe('estimateSeconds', () => {
  it('is the time of a past batch times the remaining batches', () => {
    expect(estimateSeconds([took(30)], { nodes: 6, capacity: 2 })).toBe(30 * 60);
    expect(estimateSeconds([took(30)], { nodes: 7, capacity: 2 })).toBe(40 * 60);
    expect(estimateSeconds([took(30)], { nodes: 1, capacity: 10 })).toBe(10 * 60);
  });

  it('takes the median of past rollouts', () => {
    expect(estimateSeconds([took(300), took(30), took(33)], { nodes: 2, capacity: 2 })).toBe(11 * 60);
    expect(estimateSeconds([took(30), took(60)], { nodes: 2, capacity: 2 })).toBe(15 * 60);
  });

  it('counts batches wave by wave, and the soak between them', () => {
    const coming = { nodes: 6, capacity: 5, waves: [1, 6], soakMs: 60_000 };
    expect(estimateSeconds([took(30)], coming)).toBe(21 * 60);
    expect(estimateSeconds([took(30)], { ...coming, nodes: 5, updated: 1 })).toBe(10 * 60);
  });

  it.each<[string, RolloutRecord[]]>([
    ['there was none', []],
    ['they were cut off', [took(30, { outcome: 'superseded' })]],
    ['they changed no machine', [took(0, { nodes: 0 })]],
    ['they were cancelled or returned', [took(30, { outcome: 'cancelled' }), took(30, { outcome: 'returned' })]],
    ['their clock went backwards', [took(-5)]],
  ])('past rollouts give no estimate when %s', (_, history) => {
    expect(estimateSeconds(history, { nodes: 3, capacity: 1 })).toBeNull();
    expect(estimateSeconds(history, { nodes: 0, capacity: 1 })).toBe(0);
  });
});
