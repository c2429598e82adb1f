// Pools and machines for the rollout tests: all healthy at one config by default.
import type { RolloutDecision } from '../facts.ts';
import type { NodeFacts, PoolFacts, RolloutRequest, RolloutState } from '../facts.ts';
import { defaultRolloutPolicy } from '../policy.ts';
import { readReason } from '../read-facts.ts';

export const OLD = 'rendered-worker-a';
export const NEW = 'rendered-worker-b';
export const NEXT = 'rendered-worker-c';

export const NOW = Date.parse('2026-03-01T12:00:00.000Z');
export const MINUTE = 60_000;
export const at = (minutes: number): string => new Date(NOW + minutes * MINUTE).toISOString();

export const sampleNode = (name: string, facts: Partial<NodeFacts> = {}): NodeFacts => ({
  name,
  createdAt: NOW - 1000 * MINUTE,
  zone: '',
  current: OLD,
  desired: facts.current ?? OLD,
  state: 'Done',
  reason: '',
  reportedConfig: null,
  hasDrifted: false,
  isReady: true,
  notReady: facts.isReady === false ? 'Kubelet stopped posting node status.' : '',
  readyChangedAt: NOW - 900 * MINUTE,
  isCordoned: false,
  isCordonedByUs: false,
  awaitsDrain: false,
  drainBlocked: '',
  osImage: 'Red Hat Enterprise Linux CoreOS 9.6.20260101-0',
  givenAt: null,
  wasFailing: false,
  hadItBefore: false,
  isBeingDeleted: false,
  ...facts,
});

/** `worker-1` and so on. */
export const sampleNodes = (count: number, facts: Partial<NodeFacts> = {}): NodeFacts[] =>
  Array.from({ length: count }, (_, index) => sampleNode(`worker-${index + 1}`, facts));

export const samplePool = (facts: Partial<PoolFacts> = {}): PoolFacts => ({
  name: 'worker',
  isControlPlane: false,
  newest: NEW,
  held: null,
  isPaused: false,
  maxUnavailable: undefined,
  policy: defaultRolloutPolicy,
  proven: OLD,
  state: null,
  ...facts,
});

export const sampleState = (state: Partial<RolloutState> = {}): RolloutState => ({
  target: NEW,
  from: OLD,
  startedAt: at(-60),
  endedAt: null,
  nodes: 3,
  fromOsMajor: 9,
  wave: 1,
  healthySince: null,
  resumedAt: null,
  halted: null,
  hold: null,
  answer: null,
  ...state,
});

export const sampleRequest = (
  pool: Partial<PoolFacts>,
  nodes: readonly NodeFacts[],
  more: Partial<RolloutRequest> = {},
): RolloutRequest => ({
  now: NOW,
  pool: samplePool(pool),
  nodes,
  stopped: null,
  otherControlPlaneOut: [],
  elsewhere: [],
  ownNode: null,
  ...more,
});

/** The request after the decision has been executed. */
export function afterwards(request: RolloutRequest, { give, state, held, target }: RolloutDecision): RolloutRequest {
  const given = new Map(give.map(({ node, why }) => [node, why]));
  const isReached = state !== null && state.target === target && state.endedAt !== null;
  return {
    ...request,
    pool: { ...request.pool, state, held, proven: isReached ? target : request.pool.proven },
    nodes: request.nodes.map((node) => {
      const why = given.get(node.name);
      if (why === undefined) return node;
      return { ...node, desired: target, givenAt: request.now, ...readReason(why) };
    }),
  };
}
