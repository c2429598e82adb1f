import { describe, expect, it } from 'vitest';
import { type RolloutDecision } from './facts.ts';
import { decideRollout } from './decide-rollout.ts';
import type { NodeFacts, PoolFacts, RolloutRequest } from './facts.ts';
import { defaultRolloutPolicy } from './policy.ts';
import { AFTER_FAILURE } from './read-facts.ts';
import {
  afterwards,
  at,
  MINUTE,
  NEW,
  NEXT,
  NOW,
  OLD,
  sampleNode,
  sampleNodes,
  sampleRequest,
  sampleState,
} from './testing/sample.ts';

const names = ({ give }: RolloutDecision): string[] => give.map(({ node }) => node);
const choose = (pool: Partial<PoolFacts>, nodes: readonly NodeFacts[], more: Partial<RolloutRequest> = {}) =>
  decideRollout(sampleRequest(pool, nodes, more));

const updated = { current: NEW, desired: NEW } as const;
const onTheWay = { current: OLD, desired: NEW, state: 'Working', givenAt: NOW - MINUTE } as const;
const failedAtNew = {
  current: OLD,
  desired: NEW,
  state: 'Degraded',
  reason: 'it broke',
  givenAt: NOW - MINUTE,
} as const;
const lastWave = sampleState({ wave: 2 });
const all = { waves: [{ percent: 100 }] } as const;
const atOnce = { ...defaultRolloutPolicy, ...all };

describe('the next nodes to update', () => {
  it('one canary first, whatever maxUnavailable allows', () => {
    const decision = choose({ maxUnavailable: 3 }, sampleNodes(5));
    expect(decision).toMatchObject({ phase: 'updating', target: NEW, wave: { number: 1, of: 2, size: 1 } });
    expect(names(decision)).toEqual(['worker-1']);
    expect(decision.give[0]?.why).toBe('oldest remaining node (wave 1 of 2, canary); 1 of 3 allowed unavailable');
    expect(decision.nodes.get('worker-1')).toMatchObject({ phase: 'next', isUnavailable: false });
    expect(decision.nodes.get('worker-2')).toEqual({
      phase: 'waiting',
      why: 'wave 1 of 2 is limited to 1 machine; the next wave starts when worker-1 is healthy',
      isUnavailable: false,
    });
  });

  it('as many as maxUnavailable allows, once the canary is healthy', () => {
    const nodes = [sampleNode('worker-0', updated), ...sampleNodes(5)];
    const decision = choose({ maxUnavailable: 3, state: sampleState() }, nodes);
    expect(decision.state).toEqual(sampleState({ wave: 2 }));
    expect(names(decision)).toEqual(['worker-1', 'worker-2', 'worker-3']);
    expect(decision.nodes.get('worker-4')?.why).toBe(
      'at most 3 machines may be unavailable (maxUnavailable); unavailable now: worker-1, worker-2, worker-3',
    );
  });

  it('zone by zone, the oldest first, then by name, and the node of the controller last', () => {
    const nodes = [
      sampleNode('b2', { zone: 'b' }),
      sampleNode('b1', { zone: 'b' }),
      sampleNode('a-young', { zone: 'a', createdAt: NOW }),
      sampleNode('own', { zone: '' }),
      sampleNode('a-old', { zone: 'a' }),
    ];
    const decision = choose({ maxUnavailable: '100%', policy: atOnce }, nodes, { ownNode: 'own' });
    expect(names(decision)).toEqual(['a-old', 'a-young', 'b1', 'b2', 'own']);
  });

  it.each<[string, Partial<NodeFacts>, string]>([
    ['is not ready', { isReady: false }, 'not ready: Kubelet stopped'],
    ['was cordoned by a user', { isCordoned: true }, 'cordoned by a user; it is updated once uncordoned'],
    ['drifted', { state: 'Degraded', reason: 'a file differs' }, 'degraded at its current config'],
    ['is being deleted', { isBeingDeleted: true }, 'being deleted'],
    ['has not reported yet', { current: null, desired: null, state: null }, 'not reported the current config'],
  ])('not a node that %s: the reason is reported, and it counts as unavailable', (_, facts, why) => {
    const nodes = [sampleNode('worker-0', facts), ...sampleNodes(2)];
    const decision = choose({ maxUnavailable: 2, policy: atOnce }, nodes);
    expect(names(decision)).toEqual(facts.isBeingDeleted === true ? ['worker-1', 'worker-2'] : ['worker-1']);
    expect(decision.nodes.get('worker-0')).toMatchObject({ phase: 'skipped', why: expect.stringContaining(why) });
    expect(decision.summary).toContain('skipped for now: worker-0');
  });

  it('not one that is being uncordoned after another update, or whose daemon is busy', () => {
    const nodes = [
      sampleNode('worker-1', { isCordoned: true, isCordonedByUs: true }),
      sampleNode('worker-2', { state: 'Working' }),
    ];
    const decision = choose({ maxUnavailable: 2 }, nodes);
    expect(decision.give).toEqual([]);
    expect(decision.nodes.get('worker-1')).toMatchObject({
      phase: 'waiting',
      why: expect.stringContaining('being uncordoned'),
    });
    expect(decision.nodes.get('worker-2')).toMatchObject({ phase: 'waiting', why: 'the daemon is busy (Working)' });
  });

  it('a node that failed at another config goes first, at no cost: the new config may repair it', () => {
    const failed = sampleNode('worker-9', { desired: NEW, state: 'Degraded', reason: 'it broke' });
    const decision = choose({ newest: NEXT }, [...sampleNodes(3), failed]);
    expect(names(decision)).toEqual(['worker-9']);
    expect(decision.give[0]?.why.startsWith(AFTER_FAILURE)).toBe(true);
  });

  it('then nodes that are updating to another config', () => {
    const nodes = [...sampleNodes(2), sampleNode('worker-9', onTheWay), sampleNode('worker-8', failedAtNew)];
    const decision = choose({ newest: NEXT, maxUnavailable: 2, policy: atOnce }, nodes);
    expect(names(decision)).toEqual(['worker-8', 'worker-9']);
  });

  it('a healthy node is the canary rather than one that is not ready', () => {
    const nodes = [sampleNode('worker-0', { ...onTheWay, isReady: false, state: 'Rebooting' }), ...sampleNodes(2)];
    expect(names(choose({ newest: NEXT, maxUnavailable: 2 }, nodes))).toEqual(['worker-1']);
    expect(names(choose({ newest: NEXT, maxUnavailable: 1 }, nodes))).toEqual(['worker-0']);
  });

  it('a node broken by a config that the others do not have: the next config may repair it', () => {
    const broken = sampleNode('worker-0', { current: NEW, isReady: false });
    expect(names(choose({ newest: NEXT }, [broken, ...sampleNodes(2)]))).toEqual(['worker-0']);
  });

  it('a node that is not ready at the config that a user rolls back from', () => {
    const hold = { kind: 'rollback', instead: NEW, at: at(-5), why: 'a user asked' } as const;
    const pool = { held: OLD, proven: NEW, state: sampleState({ target: OLD, from: NEW, hold }) };
    const nodes = [sampleNode('worker-1', { current: NEW, isReady: false }), sampleNode('worker-2', { current: NEW })];
    expect(names(choose(pool, nodes))).toEqual(['worker-1']);
    expect(names(choose({ proven: NEW, newest: NEXT }, nodes))).toEqual([]);
  });

  it('a failed node that still serves pods moves only while a slot is free', () => {
    const away = sampleNodes(1, { isReady: false });
    const failed = sampleNode('worker-9', { desired: NEW, state: 'Degraded' });
    expect(names(choose({ newest: NEXT }, [...away, failed]))).toEqual([]);
    expect(names(choose({ newest: NEXT, maxUnavailable: 2 }, [...away, failed]))).toEqual(['worker-9']);
  });

  it('a node that already runs the target, in addition to the others: nothing changes on it', () => {
    const born = sampleNode('worker-9', { current: NEW, desired: null });
    const decision = choose({}, [...sampleNodes(3), born, sampleNode('worker-8', { current: NEW, desired: OLD })]);
    expect(names(decision)).toEqual(['worker-8', 'worker-9']);
    expect(decision.give[0]?.why).toBe(`already runs ${NEW}`);
  });

  it('no node twice', () => {
    const request = sampleRequest({ maxUnavailable: 2, policy: atOnce }, sampleNodes(4));
    const first = decideRollout(request);
    expect(names(first)).toEqual(['worker-1', 'worker-2']);
    const second = decideRollout(afterwards(request, first));
    expect(second.give).toEqual([]);
    expect(second.nodes.get('worker-1')).toMatchObject({ phase: 'updating', isUnavailable: true });
  });
});

describe('maxUnavailable', () => {
  it.each<[string, Partial<NodeFacts>]>([
    ['is updating', { ...onTheWay }],
    ['has failed', { ...failedAtNew, givenAt: NOW - 99 * MINUTE }],
    ['is not ready', { ...updated, isReady: false }],
    ['is cordoned', { isCordoned: true }],
    ['is being uncordoned', { ...updated, isCordoned: true, isCordonedByUs: true }],
    ['has reported nothing', { current: null, desired: null, state: null }],
  ])('counts a node that %s', (_, facts) => {
    const nodes = [sampleNode('worker-0', facts), ...sampleNodes(3)];
    const state = { ...lastWave, resumedAt: at(-10) };
    expect(names(choose({ maxUnavailable: 1, state }, nodes))).toEqual([]);
    expect(names(choose({ maxUnavailable: 2, state }, nodes))).toEqual(['worker-1']);
  });

  it('is 1 for the control plane, whatever the pool sets', () => {
    const decision = choose({ isControlPlane: true, maxUnavailable: 3, policy: atOnce }, sampleNodes(3));
    expect(names(decision)).toEqual(['worker-1']);
    expect(decision.maxUnavailable).toBe(1);
  });

  it('of the control plane counts the nodes of the other control-plane pools', () => {
    const decision = choose({ isControlPlane: true }, sampleNodes(3), { otherControlPlaneOut: ['arbiter-1'] });
    expect(decision.give).toEqual([]);
    expect(decision.summary).toContain(
      'at most 1 control-plane machine may be unavailable; unavailable now: arbiter-1',
    );
  });

  it('of other pools counts only their own nodes', () => {
    expect(names(choose({}, sampleNodes(3), { otherControlPlaneOut: ['arbiter-1'] }))).toEqual(['worker-1']);
  });

  it('lowered during a rollout withdraws no assignment and adds none', () => {
    const nodes = [...sampleNodes(3, onTheWay), sampleNode('worker-9')];
    expect(choose({ maxUnavailable: 1, state: lastWave }, nodes).give).toEqual([]);
  });
});

describe('a rollout that must not continue', () => {
  it('a paused pool assigns nothing, not even what changes nothing, and reports how to continue', () => {
    const decision = choose({ isPaused: true }, [
      ...sampleNodes(2),
      sampleNode('worker-9', { current: NEW, desired: null }),
    ]);
    expect(decision).toMatchObject({ phase: 'paused', give: [], state: null });
    expect(decision.summary).toContain('Pool worker is paused. 0 of 3 machines in pool worker have');
    expect(decision.summary).toContain('spec.paused');
  });

  it('the fleet-wide stop assigns nothing, and names its reason', () => {
    const decision = choose({}, sampleNodes(2), { stopped: 'Black Friday' });
    expect(decision).toMatchObject({ phase: 'stopped', give: [] });
    expect(decision.summary).toContain('stopped: Black Friday');
    expect(decision.summary).toContain('slipway.dev/stop-rollouts');
    expect(decision.nodes.get('worker-1')?.why).toContain('Black Friday');
  });

  it('a rollout starts when the pause ends, not before', () => {
    const request = sampleRequest(
      { isPaused: true, state: sampleState({ target: OLD, endedAt: at(-90) }) },
      sampleNodes(2),
    );
    const paused = decideRollout(request);
    expect(paused.state).toBe(request.pool.state);
    const next = decideRollout({ ...request, now: NOW + MINUTE, pool: { ...request.pool, isPaused: false } });
    expect(next.state).toMatchObject({ target: NEW, from: OLD, startedAt: at(1), nodes: 2 });
  });

  it('a pool without a rendered config has nothing to do', () => {
    expect(choose({ newest: null, proven: null }, sampleNodes(1))).toMatchObject({
      phase: 'nothing',
      target: null,
      give: [],
    });
  });
});

describe('how a rollout starts and ends', () => {
  it('stores the last config that every machine had', () => {
    expect(choose({}, sampleNodes(3)).state).toEqual(sampleState({ startedAt: at(0) }));
    expect(choose({ proven: null }, sampleNodes(3)).state).toMatchObject({ from: null });
    const before = sampleState({ target: OLD, endedAt: at(-90) });
    expect(choose({ proven: null, state: before }, sampleNodes(3)).state).toMatchObject({ from: OLD });
    const cutOff = sampleState({ target: NEXT, from: OLD });
    expect(choose({ proven: null, state: cutOff }, sampleNodes(3)).state).toMatchObject({ from: OLD });
  });

  it('ends with a record when every machine is healthy', () => {
    const decision = choose({ state: lastWave }, sampleNodes(3, updated));
    expect(decision).toMatchObject({ phase: 'updated', give: [], summary: `All machines in pool worker have ${NEW}` });
    expect(decision.state).toEqual({ ...lastWave, endedAt: at(0) });
    expect(decision.ended).toEqual({
      config: NEW,
      osMajor: 9,
      from: OLD,
      startedAt: at(-60),
      endedAt: at(0),
      outcome: 'completed',
      nodes: 3,
      capacity: 1,
      why: 'newest rendered config',
    });
  });

  it('ends once', () => {
    const state = sampleState({ endedAt: at(-5) });
    const decision = choose({ state, proven: NEW }, sampleNodes(3, updated));
    expect(decision.state).toBe(state);
    expect(decision.ended).toBeNull();
  });

  it.each<[string, Partial<NodeFacts>]>([
    ['is not ready', { isReady: false }],
    ['is not uncordoned yet', { isCordoned: true, isCordonedByUs: true }],
    ['is degraded', { state: 'Degraded' }],
  ])('does not end while a machine %s', (_, facts) => {
    const nodes = [...sampleNodes(2, updated), sampleNode('worker-9', { ...updated, ...facts })];
    const decision = choose({ state: lastWave }, nodes);
    expect(decision.ended).toBeNull();
    expect(decision.phase).not.toBe('updated');
  });

  it('ends although a user cordoned a node that has the target', () => {
    const nodes = [sampleNode('worker-1', updated), sampleNode('worker-2', { ...updated, isCordoned: true })];
    expect(choose({ state: lastWave }, nodes)).toMatchObject({ phase: 'updated', ended: { outcome: 'completed' } });
  });

  it('an empty pool is updated, but its rollout neither starts nor ends', () => {
    const before = sampleState({ target: OLD, endedAt: at(-90) });
    const decision = choose({ state: before }, []);
    expect(decision).toMatchObject({ phase: 'updated', ended: null, give: [], lookAgainAt: null });
    expect(decision.state).toBe(before);
    expect(decision.summary).toBe(`Pool worker has no machines; its target is ${NEW}`);
    const interrupted = sampleState();
    expect(choose({ state: interrupted }, [])).toMatchObject({ phase: 'updated', ended: null, lookAgainAt: null });
    expect(choose({ state: interrupted }, []).state).toBe(interrupted);
  });

  it('the first machines of an empty pool start a rollout with a canary, although its status names the target', () => {
    const request = sampleRequest({ proven: NEW, maxUnavailable: '100%' }, []);
    const empty = afterwards(request, decideRollout(request));
    const decision = decideRollout({ ...empty, nodes: sampleNodes(6) });
    expect(names(decision)).toEqual(['worker-1']);
    expect(decision.state).toMatchObject({ target: NEW, from: null, endedAt: null, nodes: 6 });
  });

  it('a pool that lost its machines and gets those of another pool keeps its last good config', () => {
    const state = sampleState({ target: OLD, from: null, endedAt: at(-90) });
    const strangers = sampleNodes(6, { current: 'rendered-infra-a' });
    const decision = choose({ proven: NEW, state, maxUnavailable: '100%' }, strangers);
    expect(names(decision)).toEqual(['worker-1']);
    expect(decision.state).toMatchObject({ target: NEW, from: OLD });
  });

  it('a target that is replaced is recorded as superseded', () => {
    const decision = choose({ newest: NEXT, state: sampleState() }, [
      sampleNode('worker-1', updated),
      ...sampleNodes(1),
    ]);
    expect(decision.ended).toMatchObject({ config: NEW, outcome: 'superseded', why: expect.stringContaining(NEXT) });
    expect(decision.state).toMatchObject({ target: NEXT, from: OLD, wave: 1 });
  });

  it('a target that is withdrawn before any node had it ends in two steps, each with a record', () => {
    const request = sampleRequest({ newest: OLD, state: sampleState() }, sampleNodes(2));
    const first = decideRollout(request);
    expect(first).toMatchObject({ ended: { config: NEW, outcome: 'superseded' }, lookAgainAt: NOW });
    const second = decideRollout(afterwards(request, first));
    expect(second).toMatchObject({ ended: { config: OLD, outcome: 'completed', nodes: 0 }, lookAgainAt: null });
    expect(decideRollout(afterwards(request, second)).ended).toBeNull();
  });

  it('a node that joins a pool whose config is proven needs no canary, and its failure halts nothing', () => {
    const nodes = [...sampleNodes(2, updated), sampleNode('joined-1'), sampleNode('joined-2')];
    const pool = { proven: NEW, state: sampleState({ endedAt: at(-5) }), maxUnavailable: 2 };
    expect(names(choose(pool, nodes))).toEqual(['joined-1', 'joined-2']);
    const failed = [...sampleNodes(2, updated), sampleNode('joined-1', failedAtNew), sampleNode('joined-2')];
    expect(names(choose(pool, failed))).toEqual(['joined-2']);
    expect(choose(pool, failed).state).toBe(pool.state);
    // Nor before the status has been written.
    expect(choose({ ...pool, proven: OLD }, failed).state).toBe(pool.state);
  });
});
