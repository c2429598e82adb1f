import { describe, expect, it } from 'vitest';
import { decideRollout } from './decide-rollout.ts';
import type { Hold, NodeFacts, PoolFacts, RolloutState } from './facts.ts';
import { resolveTarget } from './lifecycle.ts';
import { defaultRolloutPolicy } from './policy.ts';
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
  samplePool,
  sampleRequest,
  sampleState,
} from './testing/sample.ts';

const hold: Hold = { kind: 'return', instead: NEW, at: at(-5), why: 'a node failed' };
const untilResume = { ...defaultRolloutPolicy, hold: 'until-resume' } as const;
const held = { held: OLD, state: sampleState({ target: OLD, hold }) };
const byHand = {
  kind: 'rollback',
  instead: null,
  at: at(0),
  why: expect.stringContaining('a user set the annotation') as string,
};

describe('the target of a pool', () => {
  it.each<[string, Partial<PoolFacts>, object]>([
    ['is the newest config', {}, { target: NEW, held: null, hold: null }],
    ['is nothing before anything was rendered', { newest: null }, { target: null }],
    ['is the held config rather than the newest', held, { target: OLD, held: OLD, hold }],
    [
      'the newest, when something new was rendered',
      { ...held, newest: NEXT },
      { target: NEXT, held: null, hold: null },
    ],
    [
      'what they are held at, until somebody says resume',
      { ...held, newest: NEXT, policy: untilResume },
      { target: OLD, hold },
    ],
    ['is what a user wrote into the annotation', { held: OLD }, { target: OLD, held: OLD, hold: byHand }],
    ['is what a user wrote over a held config', { ...held, held: NEXT }, { target: NEXT, hold: byHand }],
    [
      'the newest, when somebody took the annotation away',
      { ...held, held: null },
      { target: NEW, held: null, hold: null },
    ],
  ])('%s', (_, pool, aim) => {
    expect(resolveTarget(samplePool(pool), NOW)).toMatchObject(aim);
  });

  it.each<[string, Partial<PoolFacts>, string]>([
    ['a bare piece in the annotation', { held: '99-worker-motd' }, '99-worker-motd'],
    ['another pool’s config in the annotation', { held: 'rendered-master-a' }, 'rendered-master-a'],
    ['a config of a pool with a longer name', { held: 'rendered-worker-gpu-a' }, 'rendered-worker-gpu-a'],
    ['a bare piece in spec.configuration', { newest: '99-worker-motd' }, '99-worker-motd'],
  ])('is not %s: nothing is assigned, and the pool reports why', (_, pool, refused) => {
    expect(resolveTarget(samplePool(pool), NOW)).toEqual({
      target: null,
      refused,
      held: pool.held ?? null,
      hold: null,
    });
    const decision = decideRollout(sampleRequest(pool, sampleNodes(3)));
    expect(decision).toMatchObject({ give: [], target: null, held: pool.held ?? null, state: null, phase: 'halted' });
    expect(decision.summary).toMatch(
      /expected a rendered MachineConfig of this pool.*No machine gets it.*SLW_ROLLOUT_TARGET/,
    );
    expect(decision.summary).toContain(`found ${refused}`);
  });

  it('is not a config of another pool that the stored state names as the last good one', () => {
    const failing = sampleNode('canary', { desired: NEW, state: 'Degraded', givenAt: NOW - MINUTE });
    const state = sampleState({ from: 'rendered-master-a', halted: { at: at(-5), node: 'canary', reason: 'x' } });
    const policy = { ...defaultRolloutPolicy, onFailure: 'return' } as const;
    const decision = decideRollout(sampleRequest({ state, policy }, [failing, ...sampleNodes(2)]));
    expect(decision).toMatchObject({ target: NEW, held: null, phase: 'halted', give: [] });
  });

  it('a hold that a user set by hand does not end with a new render', () => {
    const state = sampleState({ target: OLD, hold: { ...hold, kind: 'rollback', instead: null } });
    expect(resolveTarget(samplePool({ held: OLD, state, newest: NEXT }), NOW)).toMatchObject({ target: OLD });
  });
});

const failed: Partial<NodeFacts> = {
  desired: NEW,
  state: 'Degraded',
  reason: 'no space left (SLW_DAEMON_DISK)',
  givenAt: NOW - MINUTE,
};
const canary = (facts: Partial<NodeFacts> = failed): NodeFacts => sampleNode('canary', facts);
const choose = (state: Partial<RolloutState>, nodes: readonly NodeFacts[], pool: Partial<PoolFacts> = {}) =>
  decideRollout(sampleRequest({ maxUnavailable: 5, state: sampleState(state), ...pool }, nodes));
const halted = { at: at(-5), node: 'canary', reason: 'no space left' };
const returning = { ...defaultRolloutPolicy, onFailure: 'return' } as const;

describe('a halt', () => {
  it.each<[string, Partial<NodeFacts>]>([
    ['is degraded', failed],
    ['cannot apply it', { ...failed, state: 'Unreconcilable' }],
    [
      'is away for half an hour',
      { ...failed, state: 'Rebooting', isReady: false, readyChangedAt: NOW - 31 * MINUTE, givenAt: NOW - 40 * MINUTE },
    ],
  ])('follows when a node %s: no other node is assigned the target', (_, facts) => {
    const decision = choose({ wave: 2 }, [canary(facts), ...sampleNodes(3)]);
    expect(decision).toMatchObject({ phase: 'halted', give: [], state: { halted: { at: at(0), node: 'canary' } } });
    expect(decision.nodes.get('canary')).toMatchObject({ phase: 'failed', isUnavailable: true });
    expect(decision.summary).toContain('The rollout is halted: node canary failed');
    expect(decision.summary).toContain('slipway resume worker');
    expect(decision.summary).toContain('slipway cancel worker');
  });

  it('follows also when the failed node was moved to another pool before the failure was observed', () => {
    const request = sampleRequest({ maxUnavailable: 5, state: sampleState({ wave: 2 }) }, sampleNodes(3));
    const decision = decideRollout({
      ...request,
      elsewhere: [canary(), sampleNode('stranger', { state: 'Degraded' })],
    });
    expect(decision).toMatchObject({ phase: 'halted', give: [], state: { halted: { node: 'canary' } } });
    expect(decision.nodes.has('canary')).toBe(false);
  });

  it('does not follow while the node has been down for less, and requeues for that time', () => {
    const facts = {
      ...failed,
      state: 'Rebooting',
      isReady: false,
      readyChangedAt: NOW - 29 * MINUTE,
      givenAt: NOW - 40 * MINUTE,
    } as const;
    expect(choose({}, [canary(facts), ...sampleNodes(3)])).toMatchObject({
      phase: 'updating',
      lookAgainAt: NOW + MINUTE,
    });
  });

  it('does not follow for a node that was down before it was assigned the target', () => {
    const facts = {
      ...failed,
      state: 'Rebooting',
      isReady: false,
      readyChangedAt: NOW - 99 * MINUTE,
      givenAt: NOW - 40 * MINUTE,
    } as const;
    expect(choose({}, [canary(facts), ...sampleNodes(3)])).toMatchObject({ phase: 'updating', lookAgainAt: null });
  });

  it.each<[string, Partial<NodeFacts>]>([
    ['its daemon started the update', { state: 'Done' }],
    ['its drain was complete', { state: 'Working', awaitsDrain: true }],
  ])('does not follow for a node that went down before %s', (_, more) => {
    const facts = {
      ...failed,
      isReady: false,
      readyChangedAt: NOW - 99 * MINUTE,
      givenAt: NOW - 100 * MINUTE,
      ...more,
    };
    const decision = choose({}, [canary(facts), ...sampleNodes(3)], { policy: returning });
    expect(decision).toMatchObject({ phase: 'updating', target: NEW, lookAgainAt: null });
    expect(decision.nodes.get('canary')?.why).toContain('not ready: Kubelet stopped posting node status.');
  });

  it('does not follow immediately for a node that had failed before: its report may be stale', () => {
    const facts = { ...failed, wasFailing: true } as const;
    expect(choose({}, [canary(facts)])).toMatchObject({ phase: 'updating', lookAgainAt: NOW + MINUTE });
    expect(choose({}, [canary({ ...facts, givenAt: NOW - 2 * MINUTE })])).toMatchObject({ phase: 'halted' });
  });

  it('follows immediately for a node that had failed before, if its report is about the target', () => {
    const facts = { ...failed, wasFailing: true, reportedConfig: NEW } as const;
    expect(choose({}, [canary(facts)])).toMatchObject({ phase: 'halted', state: { halted: { node: 'canary' } } });
    const stale = canary({ ...facts, reportedConfig: NEXT });
    expect(choose({}, [stale])).toMatchObject({ phase: 'updating', lookAgainAt: NOW + MINUTE });
  });

  it('does not follow for a node that drifted at its old config', () => {
    expect(choose({}, [sampleNode('worker-9', { state: 'Degraded' }), ...sampleNodes(1)]).phase).toBe('updating');
  });

  it('remains while the failed node retries, and when it is deleted', () => {
    const trying = canary({ ...failed, state: 'Working' });
    expect(choose({ halted }, [trying, ...sampleNodes(2)])).toMatchObject({ phase: 'halted', state: { halted } });
    const gone = choose({ halted }, sampleNodes(2));
    expect(gone).toMatchObject({ phase: 'halted', give: [], state: { halted } });
  });

  it('remains when the pool loses all machines, and for those that it gets then', () => {
    const empty = choose({ halted }, []);
    expect(empty).toMatchObject({ phase: 'halted', ended: null, state: { halted, endedAt: null } });
    expect(empty.summary).toContain('The rollout is halted: node canary failed');
    expect(choose({ halted }, sampleNodes(6, { current: 'rendered-infra-a' }))).toMatchObject({
      phase: 'halted',
      give: [],
    });
  });

  it('follows also when the failed node was the only one, and was moved to another pool', () => {
    const request = sampleRequest({ state: sampleState() }, []);
    const decision = decideRollout({ ...request, elsewhere: [canary()] });
    expect(decision).toMatchObject({ phase: 'halted', state: { halted: { node: 'canary' } } });
  });

  it('ends when the failed node is healthy at the target', () => {
    const decision = choose({ halted }, [canary({ current: NEW }), ...sampleNodes(2)]);
    expect(decision).toMatchObject({ phase: 'updating', state: { halted: null, wave: 2 } });
    expect(decision.give).toHaveLength(2);
  });

  it('names the next failed node when the first is healthy', () => {
    const nodes = [canary({ current: NEW }), ...sampleNodes(2, failed)];
    expect(choose({ halted }, nodes).state?.halted).toMatchObject({ node: 'worker-1', at: at(0) });
  });

  it('ends with another target', () => {
    expect(choose({ halted }, [canary(), ...sampleNodes(2)], { newest: NEXT }).state).toMatchObject({
      target: NEXT,
      halted: null,
    });
  });

  it('is not repeated for nodes that failed before a resume, but follows for later ones', () => {
    const resumed = { resumedAt: at(0), wave: 1 };
    const decision = choose(resumed, [canary(), ...sampleNodes(2)]);
    expect(decision).toMatchObject({ phase: 'updating', state: { wave: 2, halted: null } });
    expect(decision.give).toHaveLength(2);
    const later = canary({ ...failed, givenAt: NOW + MINUTE });
    expect(choose(resumed, [later, ...sampleNodes(2)]).phase).toBe('halted');
  });
});

describe('drift on a machine that was assigned the target', () => {
  const drift: Partial<NodeFacts> = {
    ...failed,
    current: NEW,
    reason: '1 item on this machine differs from rendered-worker-b: file /etc/motd [SLW_DAEMON_DRIFT]',
    hasDrifted: true,
  };
  const before = { ...drift, current: OLD };

  it.each<[string, Partial<NodeFacts>, typeof defaultRolloutPolicy]>([
    ['after its update, with halt', drift, defaultRolloutPolicy],
    ['after its update, with return', drift, returning],
    ['before its update, with halt', before, defaultRolloutPolicy],
    ['before its update, with return', before, returning],
  ])('%s: the rollout continues, and the machine counts as unavailable', (_, facts, policy) => {
    const decision = choose({ wave: 2 }, [canary(facts), ...sampleNodes(6)], { policy });
    expect(decision).toMatchObject({ phase: 'updating', target: NEW, held: null, state: { halted: null } });
    expect(decision.give).toHaveLength(4);
    expect(decision.summary).toContain('drifted: canary');
    expect(decision.nodes.get('canary')).toMatchObject({ phase: 'drifted', isUnavailable: true });
    expect(decision.nodes.get('canary')?.why).toContain('file /etc/motd');
  });

  it('leaves no slot to others once maxUnavailable machines have drifted', () => {
    const drifted = sampleNodes(5, drift);
    const decision = choose({ wave: 2 }, [...drifted, sampleNode('worker-9')]);
    expect(decision).toMatchObject({ phase: 'updating', give: [] });
    expect(decision.summary).toContain('drifted: worker-1, worker-2, worker-3 and 2 more');
    expect(decision.nodes.get('worker-9')?.why).toContain('at most 5 machines may be unavailable');
  });

  it('keeps the next wave waiting, until it is gone or a user resumes', () => {
    const others = sampleNodes(3);
    const waiting = choose({}, [canary(drift), ...others]);
    expect(waiting).toMatchObject({ phase: 'updating', give: [], wave: { number: 1 }, state: { halted: null } });
    expect(waiting.summary).toContain('the next wave starts when canary is healthy');
    expect(choose({}, [canary({ current: NEW }), ...others]).give).toHaveLength(3);
    expect(choose({ resumedAt: at(0) }, [canary(drift), ...others]).give).toHaveLength(3);
  });

  it('does not end the halt that this machine caused before', () => {
    expect(choose({ halted }, [canary(drift), ...sampleNodes(2)])).toMatchObject({
      phase: 'halted',
      state: { halted },
    });
  });

  it('of a rollback is no reason to give up: the others roll back', () => {
    const pool = { held: OLD, state: sampleState({ target: OLD, from: null, hold }), proven: OLD };
    const nodes = [canary({ ...drift, desired: OLD }), ...sampleNodes(2, { current: NEW })];
    const decision = decideRollout(sampleRequest({ maxUnavailable: 5, ...pool }, nodes));
    expect(decision).toMatchObject({ phase: 'updating', target: OLD });
    expect(decision.give.map(({ node }) => node)).toEqual(['worker-1', 'worker-2']);
  });
});

describe('an automatic rollback', () => {
  it('returns to the last good config if the policy is return', () => {
    const request = sampleRequest({ maxUnavailable: 5, policy: returning, state: sampleState({ wave: 2 }) }, [
      canary(),
      sampleNode('worker-9', { current: NEW }),
      ...sampleNodes(2),
    ]);
    const decision = decideRollout(request);
    expect(decision).toMatchObject({
      phase: 'updating',
      target: OLD,
      held: OLD,
      ended: { config: NEW, outcome: 'superseded' },
      state: { target: OLD, hold: { kind: 'return', instead: NEW, at: at(0) }, halted: null },
    });
    expect(decision.ended?.why).toContain('node canary failed: no space left');
    expect(decision.summary).toContain(`Automatically rolling back to ${OLD}: node canary failed`);
    expect(decision.give.map(({ node }) => node)).toEqual(['canary', 'worker-9']);
    const next = afterwards(request, decision);
    expect(decideRollout(next)).toMatchObject({ give: [], state: { halted: null }, held: OLD });
    const nodes = next.nodes.map((node): NodeFacts => ({ ...node, current: OLD, state: 'Done' }));
    expect(decideRollout({ ...next, nodes })).toMatchObject({
      phase: 'updated',
      held: OLD,
      ended: { config: OLD, outcome: 'returned' },
    });
  });

  it('includes a node that drifted after it applied the new config, and one that is not ready', () => {
    const nodes = [
      canary(),
      sampleNode('worker-8', { ...failed, current: NEW, hasDrifted: true }),
      sampleNode('worker-9', { current: NEW, isReady: false }),
    ];
    const decision = choose({ wave: 2 }, [...nodes, ...sampleNodes(2)], { policy: returning });
    expect(decision.give).toEqual([
      { node: 'canary', config: OLD, why: 'it failed before: already runs rendered-worker-a' },
      { node: 'worker-8', config: OLD, why: `it failed before: degraded at ${NEW}; failed nodes go first` },
      { node: 'worker-9', config: OLD, why: `not ready at ${NEW}, which may be the cause` },
    ]);
  });

  it('needs a last good config', () => {
    expect(choose({ from: null }, [canary()], { policy: returning })).toMatchObject({ phase: 'halted', target: NEW });
  });

  it('does not lower the major version of the OS: the rollout stays halted and reports why', () => {
    const ten = { current: NEW, osImage: 'Red Hat Enterprise Linux CoreOS 10.0.20260101-0' };
    const decision = choose({}, [canary(), sampleNode('worker-9', ten), ...sampleNodes(2)], { policy: returning });
    expect(decision).toMatchObject({ phase: 'halted', target: NEW, held: null, give: [] });
    expect(decision.summary).toContain('worker-9 runs OS version 10');
    expect(decision.summary).toContain('SLW_ROLLOUT_OS_DOWNGRADE');
  });

  it('knows the old OS version even if no machine runs the old config', () => {
    const ten = { ...failed, current: NEW, osImage: 'CoreOS 10.0.1' };
    expect(choose({ fromOsMajor: 9 }, [canary(ten)], { policy: returning })).toMatchObject({ phase: 'halted' });
    expect(choose({ fromOsMajor: 10 }, [canary(ten)], { policy: returning })).toMatchObject({ target: OLD });
  });

  it('of a failed rollback returns to the newest config, without a hold', () => {
    const hold = { kind: 'rollback', instead: NEXT, at: at(-5), why: 'a user asked' } as const;
    const pool = { policy: returning, held: NEW, newest: NEXT, proven: NEXT };
    expect(choose({ hold, from: NEXT }, [canary({ ...failed, current: NEXT })], pool)).toMatchObject({
      target: NEXT,
      held: null,
      state: { hold: null },
    });
  });
});
