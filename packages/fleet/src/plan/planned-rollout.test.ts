import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideRollout } from '../rollout/decide-rollout.ts';
import type { NodeFacts, PoolFacts, RolloutRecord, RolloutRequest } from '../rollout/facts.ts';
import { defaultRolloutPolicy } from '../rollout/policy.ts';
import { simulateRollout } from './planned-rollout.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const [OLD, OTHER, TARGET] = ['rendered-worker-old', 'rendered-worker-other', 'rendered-worker-new'];

const node = (name: string, more: Partial<NodeFacts> = {}): NodeFacts => ({
  wasFailing: false,
  hadItBefore: false,
  name,
  createdAt: NOW - 1000,
  zone: '',
  current: OLD,
  desired: OLD,
  state: 'Done',
  reason: '',
  reportedConfig: null,
  hasDrifted: false,
  isReady: true,
  notReady: '',
  readyChangedAt: NOW - 1000,
  isCordoned: false,
  isCordonedByUs: false,
  awaitsDrain: false,
  drainBlocked: '',
  osImage: '',
  givenAt: null,
  isBeingDeleted: false,
  ...more,
});
const request = (nodes: readonly NodeFacts[], pool: Partial<PoolFacts> = {}): RolloutRequest => ({
  now: NOW,
  pool: {
    name: 'worker',
    isControlPlane: false,
    newest: TARGET,
    held: null,
    isPaused: false,
    maxUnavailable: 1,
    policy: defaultRolloutPolicy,
    proven: OLD,
    state: null,
    ...pool,
  },
  nodes,
  stopped: null,
  otherControlPlaneOut: [],
  elsewhere: [],
  ownNode: null,
});

/** Round by round within maxUnavailable, as the real controller does, on machines that apply what they are assigned. */
function goThrough(first: RolloutRequest): string[][] {
  const waves = new Map<number, string[]>();
  const step = (at: RolloutRequest): RolloutRequest => {
    const decision = decideRollout(at);
    const given = new Map(decision.give.map(({ node: name, config }) => [name, config]));
    const number = decision.wave?.number ?? 1;
    waves.set(number, [...(waves.get(number) ?? []), ...given.keys()]);
    const nodes = at.nodes.map((each) => {
      const isUnderWay = decision.nodes.get(each.name)?.phase === 'updating';
      const desired = given.get(each.name) ?? (isUnderWay ? each.desired : null);
      return desired === null
        ? each
        : node(each.name, { ...each, desired, current: desired, state: 'Done', isReady: true });
    });
    return { ...at, now: at.now + 1000, nodes, pool: { ...at.pool, state: decision.state, held: decision.held } };
  };
  let at = first;
  for (let turn = 0; turn < 40; turn += 1) at = step(at);
  return [...waves.values()].filter((wave) => wave.length > 0);
}

const somehow: readonly Partial<NodeFacts>[] = [
  {},
  {},
  {},
  { isCordoned: true },
  { isReady: false, notReady: 'the kubelet is silent' },
  { desired: OTHER, state: 'Working' },
  { desired: OTHER, state: 'Degraded', reason: 'no' },
  { state: 'Degraded', reason: 'drift' },
  { current: null, desired: null, state: null },
];

describe('a simulated rollout', () => {
  it('has the order of the real rollout, whatever maxUnavailable is', () => {
    const pools = fc.record({
      nodes: fc.array(
        fc.record({
          how: fc.constantFrom(...somehow),
          zone: fc.constantFrom('a', 'b'),
          createdAt: fc.integer({ min: 1, max: 5 }),
        }),
        { minLength: 1, maxLength: 12 },
      ),
      maxUnavailable: fc.integer({ min: 1, max: 12 }),
      canary: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(pools, ({ nodes, maxUnavailable, canary }) => {
        const facts = nodes.map(({ how, zone, createdAt }, index) => node(`n-${index}`, { ...how, zone, createdAt }));
        const policy = { ...defaultRolloutPolicy, waves: [{ nodes: canary }, { percent: 100 }] };
        const asked = request(facts, { maxUnavailable, policy });
        const { plan } = simulateRollout(asked, []);
        const really = goThrough(asked);
        expect(plan.waves.map((wave) => wave.nodes)).toEqual(really);
      }),
      { numRuns: 300 },
    );
  });

  it('starts with one machine, whatever the machines reported before an earlier assignment', () => {
    const nodes = ['a', 'b', 'c'].map((name) => node(name, { hadItBefore: true }));
    const { waves } = simulateRollout(request(nodes), []).plan;
    expect(waves.map(({ nodes: { length } }) => length)).toEqual([1, 2]);
  });

  it('has no waves while a failed machine halts it', () => {
    const failed = node('n-0', { desired: TARGET, state: 'Degraded', reason: 'disk full' });
    const { plan } = simulateRollout(request([failed, node('n-1')], { maxUnavailable: 2 }), []);
    expect(plan).toMatchObject({ phase: 'halted', waves: [], takenBy: ['n-0'] });
    expect(plan.summary).toContain('n-0');
  });

  it('takes as long per batch as past ones', () => {
    const past: RolloutRecord = {
      config: OLD,
      from: null,
      startedAt: '2026-01-01T00:00:00Z',
      endedAt: '2026-01-01T00:20:00Z',
      outcome: 'completed',
      nodes: 2,
      capacity: 1,
      why: '',
    };
    const nodes = ['n-0', 'n-1', 'n-2', 'n-3'].map((name) => node(name));
    expect(simulateRollout(request(nodes, { maxUnavailable: 3 }), [past]).plan.estimateSeconds).toBe(2 * 600);
    expect(simulateRollout(request(nodes), []).plan.estimateSeconds).toBeNull();
  });
});
