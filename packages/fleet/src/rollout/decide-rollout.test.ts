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

describe('who is given the target', () => {
  it('one machine first, whatever maxUnavailable allows', () => {
    const decision = choose({ maxUnavailable: 3 }, sampleNodes(5));
    expect(decision).toMatchObject({ phase: 'updating', target: NEW, wave: { number: 1, of: 2, size: 1 } });
    expect(names(decision)).toEqual(['worker-1']);
    expect(decision.give[0]?.why).toContain('tries it for the others');
    expect(decision.nodes.get('worker-1')).toMatchObject({ phase: 'next', isUnavailable: false });
    expect(decision.nodes.get('worker-2')).toEqual({
      phase: 'waiting',
      why: 'wave 1 of 2 is for 1 machine, and the next begins when worker-1 is well',
      isUnavailable: false,
    });
  });

  it('as many as maxUnavailable allows, once the first one is well', () => {
    const nodes = [sampleNode('worker-0', updated), ...sampleNodes(5)];
    const decision = choose({ maxUnavailable: 3, state: sampleState() }, nodes);
    expect(decision.state).toEqual(sampleState({ wave: 2 }));
    expect(names(decision)).toEqual(['worker-1', 'worker-2', 'worker-3']);
    expect(decision.nodes.get('worker-4')?.why).toBe(
      'at most 3 machines at a time (maxUnavailable), and out of service are worker-1, worker-2, worker-3',
    );
  });

  it('zone by zone, the oldest first, then by name, and the machine of the controller last', () => {
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
    ['is not ready', { isReady: false }, 'it is not ready: Kubelet stopped'],
    ['was cordoned by a person', { isCordoned: true }, 'somebody cordoned it'],
    ['drifted', { state: 'Degraded', reason: 'a file differs' }, 'it is degraded at the config it has'],
    ['is being deleted', { isBeingDeleted: true }, 'it is being deleted'],
    ['has not spoken yet', { current: null, desired: null, state: null }, 'has not said yet which config'],
  ])('not a machine that %s: it says why, and counts', (_, facts, why) => {
    const nodes = [sampleNode('worker-0', facts), ...sampleNodes(2)];
    const decision = choose({ maxUnavailable: 2, policy: atOnce }, nodes);
    expect(names(decision)).toEqual(facts.isBeingDeleted === true ? ['worker-1', 'worker-2'] : ['worker-1']);
    expect(decision.nodes.get('worker-0')).toMatchObject({ phase: 'skipped', why: expect.stringContaining(why) });
    expect(decision.summary).toContain('cannot have a turn as they are: worker-0');
  });

  it('not one whose pods are coming back after another update, or whose daemon is at work', () => {
    const nodes = [
      sampleNode('worker-1', { isCordoned: true, isCordonedByUs: true }),
      sampleNode('worker-2', { state: 'Working' }),
    ];
    const decision = choose({ maxUnavailable: 2 }, nodes);
    expect(decision.give).toEqual([]);
    expect(decision.nodes.get('worker-1')).toMatchObject({
      phase: 'waiting',
      why: expect.stringContaining('gets its pods back'),
    });
    expect(decision.nodes.get('worker-2')).toMatchObject({ phase: 'waiting', why: 'its daemon is at work (Working)' });
  });

  it('first one that failed at another config, at no cost: the new one may mend it', () => {
    const failed = sampleNode('worker-9', { desired: NEW, state: 'Degraded', reason: 'it broke' });
    const decision = choose({ newest: NEXT }, [...sampleNodes(3), failed]);
    expect(names(decision)).toEqual(['worker-9']);
    expect(decision.give[0]?.why.startsWith(AFTER_FAILURE)).toBe(true);
  });

  it('then those on their way to another config', () => {
    const nodes = [...sampleNodes(2), sampleNode('worker-9', onTheWay), sampleNode('worker-8', failedAtNew)];
    const decision = choose({ newest: NEXT, maxUnavailable: 2, policy: atOnce }, nodes);
    expect(names(decision)).toEqual(['worker-8', 'worker-9']);
  });

  it('rather a machine that works than one that is away, to try a config', () => {
    const nodes = [sampleNode('worker-0', { ...onTheWay, isReady: false, state: 'Rebooting' }), ...sampleNodes(2)];
    expect(names(choose({ newest: NEXT, maxUnavailable: 2 }, nodes))).toEqual(['worker-1']);
    expect(names(choose({ newest: NEXT, maxUnavailable: 1 }, nodes))).toEqual(['worker-0']);
  });

  it('one that a config broke which the others do not have: the next one may mend it', () => {
    const broken = sampleNode('worker-0', { current: NEW, isReady: false });
    expect(names(choose({ newest: NEXT }, [broken, ...sampleNodes(2)]))).toEqual(['worker-0']);
  });

  it('one that is not ready at the config that somebody rolls back from', () => {
    const hold = { kind: 'rollback', instead: NEW, at: at(-5), why: 'somebody asked' } as const;
    const pool = { held: OLD, proven: NEW, state: sampleState({ target: OLD, from: NEW, hold }) };
    const nodes = [sampleNode('worker-1', { current: NEW, isReady: false }), sampleNode('worker-2', { current: NEW })];
    expect(names(choose(pool, nodes))).toEqual(['worker-1']);
    expect(names(choose({ proven: NEW, newest: NEXT }, nodes))).toEqual([]);
  });

  it('a failed machine that rests only moves while others leave room', () => {
    const away = sampleNodes(1, { isReady: false });
    const failed = sampleNode('worker-9', { desired: NEW, state: 'Degraded' });
    expect(names(choose({ newest: NEXT }, [...away, failed]))).toEqual([]);
    expect(names(choose({ newest: NEXT, maxUnavailable: 2 }, [...away, failed]))).toEqual(['worker-9']);
  });

  it('one that runs the target already, at once and beside the others: nothing changes on it', () => {
    const born = sampleNode('worker-9', { current: NEW, desired: null });
    const decision = choose({}, [...sampleNodes(3), born, sampleNode('worker-8', { current: NEW, desired: OLD })]);
    expect(names(decision)).toEqual(['worker-8', 'worker-9']);
    expect(decision.give[0]?.why).toBe(`it runs ${NEW} already`);
  });

  it('nobody twice', () => {
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
    ['on its way', { ...onTheWay }],
    ['has failed', { ...failedAtNew, givenAt: NOW - 99 * MINUTE }],
    ['is not ready', { ...updated, isReady: false }],
    ['is cordoned', { isCordoned: true }],
    ['gets its pods back', { ...updated, isCordoned: true, isCordonedByUs: true }],
    ['has said nothing', { current: null, desired: null, state: null }],
  ])('a machine that %s counts', (_, facts) => {
    const nodes = [sampleNode('worker-0', facts), ...sampleNodes(3)];
    const state = { ...lastWave, resumedAt: at(-10) };
    expect(names(choose({ maxUnavailable: 1, state }, nodes))).toEqual([]);
    expect(names(choose({ maxUnavailable: 2, state }, nodes))).toEqual(['worker-1']);
  });

  it('of the control plane is one, whatever it says', () => {
    const decision = choose({ isControlPlane: true, maxUnavailable: 3, policy: atOnce }, sampleNodes(3));
    expect(names(decision)).toEqual(['worker-1']);
    expect(decision.maxUnavailable).toBe(1);
  });

  it('of the control plane counts the machines of its other pools', () => {
    const decision = choose({ isControlPlane: true }, sampleNodes(3), { otherControlPlaneOut: ['arbiter-1'] });
    expect(decision.give).toEqual([]);
    expect(decision.summary).toContain('one machine of the control plane at a time, and out of service is arbiter-1');
  });

  it('of other pools does not', () => {
    expect(names(choose({}, sampleNodes(3), { otherControlPlaneOut: ['arbiter-1'] }))).toEqual(['worker-1']);
  });

  it('lowered in flight takes nobody back, and gives nobody more', () => {
    const nodes = [...sampleNodes(3, onTheWay), sampleNode('worker-9')];
    expect(choose({ maxUnavailable: 1, state: lastWave }, nodes).give).toEqual([]);
  });
});

describe('who says stop', () => {
  it('a paused pool gives nothing, not even what changes nothing, and says the way on', () => {
    const decision = choose({ isPaused: true }, [
      ...sampleNodes(2),
      sampleNode('worker-9', { current: NEW, desired: null }),
    ]);
    expect(decision).toMatchObject({ phase: 'paused', give: [], state: null });
    expect(decision.summary).toContain('Pool worker is paused. 0 of 3 machines of pool worker have');
    expect(decision.summary).toContain('spec.paused');
  });

  it('the switch of the fleet gives nothing, and names its reason', () => {
    const decision = choose({}, sampleNodes(2), { stopped: 'Black Friday' });
    expect(decision).toMatchObject({ phase: 'stopped', give: [] });
    expect(decision.summary).toContain('stopped: Black Friday');
    expect(decision.summary).toContain('slipway.dev/stop-rollouts');
    expect(decision.nodes.get('worker-1')?.why).toContain('Black Friday');
  });

  it('a pause that ends lets the rollout begin then, not before', () => {
    const request = sampleRequest(
      { isPaused: true, state: sampleState({ target: OLD, endedAt: at(-90) }) },
      sampleNodes(2),
    );
    const paused = decideRollout(request);
    expect(paused.state).toBe(request.pool.state);
    const next = decideRollout({ ...request, now: NOW + MINUTE, pool: { ...request.pool, isPaused: false } });
    expect(next.state).toMatchObject({ target: NEW, from: OLD, startedAt: at(1), nodes: 2 });
  });

  it('nothing rendered: nothing to do', () => {
    expect(choose({ newest: null, proven: null }, sampleNodes(1))).toMatchObject({
      phase: 'nothing',
      target: null,
      give: [],
    });
  });
});

describe('how a rollout begins and ends', () => {
  it('remembers the config that every machine had', () => {
    expect(choose({}, sampleNodes(3)).state).toEqual(sampleState({ startedAt: at(0) }));
    expect(choose({ proven: null }, sampleNodes(3)).state).toMatchObject({ from: null });
    const before = sampleState({ target: OLD, endedAt: at(-90) });
    expect(choose({ proven: null, state: before }, sampleNodes(3)).state).toMatchObject({ from: OLD });
    const cutOff = sampleState({ target: NEXT, from: OLD });
    expect(choose({ proven: null, state: cutOff }, sampleNodes(3)).state).toMatchObject({ from: OLD });
  });

  it('ends when every machine is well, with a record', () => {
    const decision = choose({ state: lastWave }, sampleNodes(3, updated));
    expect(decision).toMatchObject({ phase: 'updated', give: [], summary: `All machines of pool worker have ${NEW}` });
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
      why: 'it is what was rendered last',
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
    ['has not got its pods back', { isCordoned: true, isCordonedByUs: true }],
    ['is degraded', { state: 'Degraded' }],
  ])('does not end while a machine %s', (_, facts) => {
    const nodes = [...sampleNodes(2, updated), sampleNode('worker-9', { ...updated, ...facts })];
    const decision = choose({ state: lastWave }, nodes);
    expect(decision.ended).toBeNull();
    expect(decision.phase).not.toBe('updated');
  });

  it('one that a person cordoned, and that has the target, does not hold it up', () => {
    const nodes = [sampleNode('worker-1', updated), sampleNode('worker-2', { ...updated, isCordoned: true })];
    expect(choose({ state: lastWave }, nodes)).toMatchObject({ phase: 'updated', ended: { outcome: 'completed' } });
  });

  it('a pool without machines has what was rendered', () => {
    expect(choose({ proven: null }, [])).toMatchObject({ phase: 'updated', ended: { config: NEW, nodes: 0 } });
  });

  it('a target that another one replaces is written down as superseded', () => {
    const decision = choose({ newest: NEXT, state: sampleState() }, [
      sampleNode('worker-1', updated),
      ...sampleNodes(1),
    ]);
    expect(decision.ended).toMatchObject({ config: NEW, outcome: 'superseded', why: expect.stringContaining(NEXT) });
    expect(decision.state).toMatchObject({ target: NEXT, from: OLD, wave: 1 });
  });

  it('a target that is taken back before anybody had it ends in two steps, each with its record', () => {
    const request = sampleRequest({ newest: OLD, state: sampleState() }, sampleNodes(2));
    const first = decideRollout(request);
    expect(first).toMatchObject({ ended: { config: NEW, outcome: 'superseded' }, lookAgainAt: NOW });
    const second = decideRollout(afterwards(request, first));
    expect(second).toMatchObject({ ended: { config: OLD, outcome: 'completed', nodes: 0 }, lookAgainAt: null });
    expect(decideRollout(afterwards(request, second)).ended).toBeNull();
  });

  it('a machine that joins a pool whose config is proven needs no canary, and a failure of it halts nothing', () => {
    const nodes = [...sampleNodes(2, updated), sampleNode('joined-1'), sampleNode('joined-2')];
    const pool = { proven: NEW, state: sampleState({ endedAt: at(-5) }), maxUnavailable: 2 };
    expect(names(choose(pool, nodes))).toEqual(['joined-1', 'joined-2']);
    const failed = [...sampleNodes(2, updated), sampleNode('joined-1', failedAtNew), sampleNode('joined-2')];
    expect(names(choose(pool, failed))).toEqual(['joined-2']);
    expect(choose(pool, failed).state).toBe(pool.state);
    // Nor while the status that says so is still to be written.
    expect(choose({ ...pool, proven: OLD }, failed).state).toBe(pool.state);
  });
});
