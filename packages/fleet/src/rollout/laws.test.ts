// Laws that hold for every pool in any state.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideRollout } from './decide-rollout.ts';
import type { NodeFacts, PoolFacts, RolloutRequest } from './facts.ts';
import { resolveTarget } from './lifecycle.ts';
import { isFailing, isUnavailable } from './node-state.ts';
import { defaultRolloutPolicy } from './policy.ts';
import { AFTER_FAILURE } from './read-facts.ts';
import {
  afterwards,
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

const config = fc.constantFrom(OLD, NEW, NEXT);

const someNode = fc
  .record({
    zone: fc.constantFrom('', 'a', 'b'),
    createdAt: fc.integer({ min: 0, max: 5 }),
    current: fc.option(config, { freq: 8 }),
    desired: fc.option(config, { freq: 8 }),
    state: fc.constantFrom('Done', 'Done', 'Done', 'Working', 'Rebooting', 'Degraded', 'Unreconcilable', null),
    drifts: fc.boolean(),
    isReady: fc.boolean(),
    readyChangedAt: fc.integer({ min: NOW - 60 * MINUTE, max: NOW }),
    givenAt: fc.option(fc.integer({ min: NOW - 60 * MINUTE, max: NOW })),
    wasFailing: fc.boolean(),
    hadItBefore: fc.boolean(),
    isCordoned: fc.boolean(),
    byUs: fc.boolean(),
    isBeingDeleted: fc.constantFrom(false, false, false, true),
    osImage: fc.constantFrom('CoreOS 9.6.1', 'CoreOS 10.0.1', ''),
  })
  .map(({ byUs, drifts, ...facts }) =>
    Object.assign(facts, {
      isCordonedByUs: facts.isCordoned && byUs,
      hasDrifted: facts.state === 'Degraded' && drifts,
    }),
  );

/** Most machines of a fleet are healthy: otherwise hardly any could be assigned anything. */
const node = fc.oneof(
  { weight: 3, arbitrary: config.map((current) => ({ current, desired: current })) },
  { weight: 2, arbitrary: someNode },
);

const wave = fc.oneof(
  fc.integer({ min: 1, max: 6 }).map((nodes) => ({ nodes })),
  fc.integer({ min: 1, max: 100 }).map((percent) => ({ percent })),
);

const hold = fc.record({
  kind: fc.constantFrom('return' as const, 'cancel' as const, 'rollback' as const),
  instead: fc.option(config),
  at: fc.constant(new Date(NOW).toISOString()),
  why: fc.constant('a user asked'),
});

const state = fc.record({
  target: config,
  from: fc.option(config),
  endedAt: fc.constantFrom(null, null, new Date(NOW).toISOString()),
  wave: fc.integer({ min: 1, max: 4 }),
  healthySince: fc.constantFrom(null, new Date(NOW - 5 * MINUTE).toISOString()),
  resumedAt: fc.constantFrom(null, null, new Date(NOW - 20 * MINUTE).toISOString()),
  halted: fc.constantFrom(null, null, null, { at: new Date(NOW).toISOString(), node: 'n0', reason: 'it broke' }),
  hold: fc.option(hold),
});

const pool: fc.Arbitrary<PoolFacts> = fc
  .record({
    isControlPlane: fc.boolean(),
    newest: config,
    held: fc.option(config),
    isPaused: fc.constantFrom(false, false, false, true),
    maxUnavailable: fc.constantFrom(undefined, 1, 2, 3, '10%', '50%', '100%'),
    proven: fc.option(config),
    state: fc.option(state.map((each) => sampleState(each))),
    policy: fc.record({
      waves: fc.array(wave, { maxLength: 3 }).map((waves) => waves.concat({ percent: 100 })),
      soakMs: fc.constantFrom(0, 0, 10 * MINUTE),
      onFailure: fc.constantFrom('halt' as const, 'return' as const),
      hold: fc.constantFrom('until-new-render' as const, 'until-resume' as const),
    }),
  })
  // A rollout that has ended is also in the pool's status.
  .map((facts) => samplePool({ ...facts, ...(facts.state?.endedAt && { proven: facts.state.target }) }));

const request: fc.Arbitrary<RolloutRequest> = fc.record({
  now: fc.constant(NOW),
  pool,
  nodes: fc.array(node, { maxLength: 12 }).map((all) => all.map((facts, index) => sampleNode(`n${index}`, facts))),
  stopped: fc.constantFrom(null, null, null, 'holidays'),
  otherControlPlaneOut: fc.constantFrom([], [], ['other-1']),
  elsewhere: fc.constant([]),
  ownNode: fc.constantFrom(null, 'n1'),
});

const unavailable = (nodes: readonly NodeFacts[]): number => nodes.filter(isUnavailable).length;
const byName = (nodes: readonly NodeFacts[]) => new Map(nodes.map((each) => [each.name, each]));
const expectAlways = (law: (request: RolloutRequest) => void): void =>
  fc.assert(fc.property(request, law), { numRuns: 300 });

describe('for every pool', () => {
  it('no more machines become unavailable than maxUnavailable allows', () => {
    expectAlways((each) => {
      const decision = decideRollout(each);
      const elsewhere = each.pool.isControlPlane ? each.otherControlPlaneOut.length : 0;
      const before = unavailable(each.nodes) + elsewhere;
      const after = unavailable(afterwards(each, decision).nodes) + elsewhere;
      expect(after).toBeLessThanOrEqual(Math.max(before, decision.maxUnavailable));
    });
  });

  it('failed machines that still serve pods are reassigned only within maxUnavailable', () => {
    expectAlways((each) => {
      const decision = decideRollout(each);
      const facts = byName(each.nodes);
      const elsewhere = each.pool.isControlPlane ? each.otherControlPlaneOut.length : 0;
      const isResting = ({ state, isReady, isCordoned }: NodeFacts): boolean =>
        (state === 'Degraded' || state === 'Unreconcilable') && isReady && !isCordoned;
      const moved = decision.give.filter(({ node: name }) => {
        const given = facts.get(name);
        return given !== undefined && given.current !== decision.target && (isResting(given) || !isUnavailable(given));
      });
      const away = each.nodes.filter(
        (one) =>
          isUnavailable(one) && (!isResting(one) || one.desired === decision.target || one.current === decision.target),
      );
      const inMotion = moved.length === 0 ? 0 : away.length + elsewhere + moved.length;
      expect(inMotion).toBeLessThanOrEqual(decision.maxUnavailable);
    });
  });

  it('never two control-plane machines at the same time', () => {
    expectAlways((each) => {
      const request = { ...each, pool: { ...each.pool, isControlPlane: true } };
      const decision = decideRollout(request);
      const facts = byName(each.nodes);
      const taken = decision.give.filter(({ node: name }) => {
        const given = facts.get(name);
        return given !== undefined && given.current !== decision.target && !isUnavailable(given);
      });
      const out = taken.length === 0 ? 0 : unavailable(each.nodes) + each.otherControlPlaneOut.length + taken.length;
      expect(out).toBeLessThanOrEqual(1);
    });
  });

  it('nothing is assigned while it is paused, stopped or halted, or when nothing is left to assign', () => {
    expectAlways((each) => {
      const { phase, give, state: next } = decideRollout(each);
      const mayGive = !each.pool.isPaused && each.stopped === null && phase === 'updating' && next?.halted === null;
      expect(mayGive ? [] : give).toEqual([]);
    });
  });

  it('only machines of the pool are assigned a target, each once, and none that has it or is being deleted', () => {
    expectAlways((each) => {
      const { give, target } = decideRollout(each);
      const facts = byName(each.nodes);
      expect(new Set(give.map(({ node: name }) => name)).size).toBe(give.length);
      for (const { node: name, config: given } of give) {
        expect(given).toBe(target);
        expect(facts.get(name)?.desired).not.toBe(target);
        expect(facts.get(name)?.isBeingDeleted).toBe(false);
      }
    });
  });

  it('no more machines have the target than the wave allows, except those that already run it', () => {
    expectAlways((each) => {
      const decision = decideRollout(each);
      const facts = byName(each.nodes);
      const same = decision.give.filter(({ node: name }) => facts.get(name)?.current === decision.target).length;
      // In the first wave, machines that reported the target before it was assigned are not counted.
      const isFirst = decision.wave?.number === 1;
      const before = each.nodes.filter(
        ({ desired, hadItBefore }) => desired === decision.target && !(isFirst && hadItBefore),
      ).length;
      const after = before + decision.give.length - (isFirst ? same : 0);
      expect(after).toBeLessThanOrEqual(Math.max(decision.wave?.size ?? 0, before + (isFirst ? 0 : same)));
    });
  });

  it('the order of the machines in the list does not matter', () => {
    expectAlways((each) => {
      const one = decideRollout(each);
      const other = decideRollout({ ...each, nodes: each.nodes.toReversed() });
      const sorted = (decision: typeof one) => [...decision.nodes].sort(([a], [b]) => (a < b ? -1 : 1));
      expect({ ...other, nodes: sorted(other) }).toEqual({ ...one, nodes: sorted(one) });
    });
  });

  it('once executed, a decision assigns nothing more until something changes', () => {
    expectAlways((each) => {
      const decision = decideRollout(each);
      // A machine that already runs the target is healthy as soon as it is assigned, and may start the next wave.
      fc.pre(decision.give.every(({ why }) => !why.replace(AFTER_FAILURE, '').startsWith('already runs ')));
      const next = afterwards(each, decision);
      const again = decideRollout(next);
      // A second record is written in a second step.
      const expected = { give: [], held: decision.held, ended: decision.lookAgainAt === NOW ? again.ended : null };
      expect({ give: again.give, held: again.held, ended: again.ended }).toEqual(expected);
      expect(decision.lookAgainAt === NOW || again.state === next.pool.state).toBe(true);
    });
  });

  it('every machine has a verdict with a reason', () => {
    expectAlways((each) => {
      const { nodes, give } = decideRollout(each);
      expect([...nodes.keys()].sort()).toEqual(each.nodes.map(({ name }) => name).sort());
      for (const { why } of nodes.values()) expect(why).not.toBe('');
      for (const { node: name } of give) expect(nodes.get(name)?.phase).toBe('next');
    });
  });

  it('machines that apply what they are assigned all reach the target, always within maxUnavailable', () => {
    fc.assert(
      fc.property(
        pool,
        fc.integer({ min: 0, max: 12 }),
        fc.array(fc.nat(), { maxLength: 200 }),
        (facts, count, picks) => {
          const healthy = { ...facts, isPaused: false, state: null, held: null };
          const nodes = Array.from({ length: count }, (_, index) =>
            sampleNode(`n${index}`, { current: OLD, desired: OLD }),
          );
          let now: RolloutRequest = {
            now: NOW,
            pool: healthy,
            nodes,
            stopped: null,
            otherControlPlaneOut: [],
            elsewhere: [],
            ownNode: null,
          };
          for (let step = 0; step < 400; step += 1) {
            const decision = decideRollout(now);
            now = afterwards({ ...now, now: decision.lookAgainAt ?? now.now }, decision);
            expect(unavailable(now.nodes)).toBeLessThanOrEqual(decision.maxUnavailable);
            if (decision.phase === 'updated' && decision.lookAgainAt === null) break;
            now = { ...now, nodes: advanced(now.nodes, picks[step] ?? 0) };
          }
          expect(now.nodes.every(({ current, desired }) => current === facts.newest && desired === facts.newest)).toBe(
            true,
          );
          expect(now.pool.state?.endedAt).not.toBeNull();
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('drift', () => {
  it('alone never halts a rollout and never rolls it back', () => {
    expectAlways((each) => {
      const { state } = each.pool;
      const pool = { ...each.pool, state: state === null ? null : { ...state, halted: null } };
      const nodes = each.nodes.map((one) =>
        isFailing(one) || !one.isReady ? { ...one, isReady: true, state: 'Degraded' as const, hasDrifted: true } : one,
      );
      const decision = decideRollout({ ...each, pool, nodes });
      expect(decision.phase).not.toBe('halted');
      expect(decision.state?.halted ?? null).toBeNull();
      expect({ target: decision.target, held: decision.held }).toEqual(
        (({ target, held }) => ({ target, held }))(resolveTarget(pool, each.now)),
      );
    });
  });

  interface Scene {
    readonly maxUnavailable: number | string;
    readonly onFailure: 'halt' | 'return';
    readonly count: number;
    readonly picks: readonly number[];
  }

  /** A pool that rolls out a new config, while any of its machines drift and are put right again. */
  const scene: fc.Arbitrary<Scene> = fc.record({
    maxUnavailable: fc.constantFrom<number | string>(1, 3, '50%', '100%'),
    onFailure: fc.constantFrom('halt' as const, 'return' as const),
    count: fc.integer({ min: 2, max: 8 }),
    picks: fc.array(fc.nat(), { minLength: 40, maxLength: 200 }),
  });

  function rollOut(
    { maxUnavailable, onFailure, count, picks }: Scene,
    apply: (updating: NodeFacts) => NodeFacts,
  ): { readonly end: RolloutRequest; readonly targets: Set<string | null>; readonly touched: Set<string> } {
    const policy = { ...defaultRolloutPolicy, onFailure };
    let now = sampleRequest({ maxUnavailable, policy }, sampleNodes(count));
    const targets = new Set<string | null>();
    const touched = new Set<string>();
    for (let step = 0; step < 400; step += 1) {
      const decision = decideRollout(now);
      targets.add(decision.target);
      for (const { node: name, config: given } of decision.give) if (given === NEW) touched.add(name);
      now = afterwards(now, decision);
      const pick = picks[step];
      // At last every drift is reverted.
      const drifted =
        pick === undefined
          ? now.nodes.map(revertDrift)
          : now.nodes.map((one, at) => (at === pick % (2 * count) ? toggleDrift(one) : one));
      now = { ...now, nodes: advanced(drifted, pick ?? step, apply) };
    }
    return { end: now, targets, touched };
  }

  it('of any machines at any time keeps no good config from reaching every machine', () => {
    fc.assert(
      fc.property(scene, (each) => {
        const { end, targets } = rollOut(each, nextStep);
        expect(targets).toEqual(new Set([NEW]));
        expect(end.nodes.every(({ current, state: is }) => current === NEW && is === 'Done')).toBe(true);
        expect(end.pool.state).toMatchObject({ target: NEW, halted: null });
        expect(end.pool.state?.endedAt).not.toBeNull();
      }),
      { numRuns: 100 },
    );
  });

  it('of any machines at any time hides no bad config: it is tried on one machine only', () => {
    const breaks = (each: NodeFacts): NodeFacts =>
      each.state === 'Done' ? nextStep(each) : { ...each, state: 'Degraded', isCordoned: false, isCordonedByUs: false };
    fc.assert(
      fc.property(scene, (each) => {
        const { end, touched } = rollOut(each, breaks);
        expect(touched.size).toBe(1);
        const isBack = each.onFailure === 'return';
        expect(end.pool).toMatchObject(isBack ? { held: OLD } : { state: { halted: { node: [...touched][0] } } });
      }),
      { numRuns: 100 },
    );
  });
});

/** Only a machine that is at a config can drift from it. */
const toggleDrift = (each: NodeFacts): NodeFacts => {
  if (each.hasDrifted) return revertDrift(each);
  return each.state === 'Done' ? { ...each, state: 'Degraded', hasDrifted: true } : each;
};
const revertDrift = (each: NodeFacts): NodeFacts =>
  each.hasDrifted ? { ...each, state: 'Done', hasDrifted: false } : each;

/** One of the updating machines takes its next step. */
function advanced(nodes: readonly NodeFacts[], pick: number, apply = nextStep): NodeFacts[] {
  // The daemon updates no machine that has failed or drifted.
  const moving = nodes.filter((each) => each.desired !== each.current && !isFailing(each));
  const chosen = moving[pick % Math.max(1, moving.length)];
  return nodes.map((each) => (each === chosen ? apply(each) : each));
}

function nextStep(each: NodeFacts): NodeFacts {
  if (each.state === 'Done') return { ...each, state: 'Working', isCordoned: true, isCordonedByUs: true };
  if (each.state === 'Working') return { ...each, state: 'Rebooting', isReady: false };
  return { ...each, state: 'Done', isReady: true, isCordoned: false, isCordonedByUs: false, current: each.desired };
}
