// Everything known about one node, as plain data.
import { targetReasonAnnotation } from '@slipway/api';
import type { DecidedFleet, DecidedPool } from '../rollout/decide-fleet.ts';
import type { NodeFacts, NodePhase, RolloutDecision } from '../rollout/facts.ts';
import { parseTargetReason } from '../rollout/read-facts.ts';
import type { FleetSnapshot } from './fleet-snapshot.ts';
import { listSlotHolders, readNodeStep, noStep } from './status-report.ts';
import { listRemediations } from './remediation.ts';

export type WhyReport = WhyInPool | WhyOutside;

/** Selected by no pool, or by more than one custom pool. */
export interface WhyOutside {
  readonly node: string;
  readonly pool: null;
  readonly code: string;
  readonly why: string;
}

export interface WhyInPool {
  readonly node: string;
  readonly pool: string;
  readonly phase: NodePhase;
  readonly why: string;
  /** The rendered configs: what it runs, what it was assigned, and the target of its pool. */
  readonly current: string | null;
  readonly desired: string | null;
  readonly target: string | null;
  readonly state: NodeFacts['state'];
  readonly isReady: boolean;
  readonly notReady: string;
  readonly isCordoned: boolean;
  readonly isCordonedByUs: boolean;
  /** When and why it was assigned `desired`; null: not recorded. */
  readonly given: { readonly at: string; readonly why: string } | null;
  /** What it is doing now; '' for nothing. */
  readonly step: string;
  readonly stepSince: string;
  /** What its drain waits for; ''. */
  readonly drainBlocked: string;
  /** The daemon's message; ''. */
  readonly reason: string;
  readonly poolPhase: RolloutDecision['phase'];
  readonly poolSummary: string;
  readonly wayOut: readonly string[];
}

/** Null: there is no such node. */
export function whyReport(name: string, fleet: FleetSnapshot, decided: DecidedFleet): WhyReport | null {
  const outside = decided.outside.find((node) => node.name === name);
  if (outside !== undefined) return { node: name, pool: null, code: outside.code, why: outside.message };
  for (const pool of decided.pools) {
    const facts = pool.nodes.find((node) => node.name === name);
    if (facts !== undefined) return inPool(facts, pool, fleet);
  }
  return null;
}

function inPool(facts: NodeFacts, decided: DecidedPool, fleet: FleetSnapshot): WhyInPool {
  const { name: pool, decision } = decided;
  const { name, current, desired, state, isReady, notReady, isCordoned, isCordonedByUs, drainBlocked, reason } = facts;
  const { phase, why } = decision.nodes.get(name) ?? { phase: 'skipped', why: 'no decision was made about this node' };
  const step = phase === 'updating' || phase === 'failed' ? readNodeStep(fleet.machineConfigNodes.get(name)) : noStep;
  return {
    node: name,
    pool,
    phase,
    why,
    current,
    desired,
    target: decision.target,
    state,
    isReady,
    notReady,
    isCordoned,
    isCordonedByUs,
    given: readAssignment(name, fleet),
    step: step.words,
    stepSince: step.since,
    drainBlocked,
    reason,
    poolPhase: decision.phase,
    poolSummary: decision.summary,
    wayOut: listRemediations({
      node: facts,
      pool,
      phase,
      poolPhase: decision.phase,
      slotHolders: listSlotHolders(decided),
    }),
  };
}

function readAssignment(name: string, { nodes }: FleetSnapshot): WhyInPool['given'] {
  const annotations = nodes.find(({ metadata }) => metadata.name === name)?.metadata.annotations;
  const { givenAt, why } = parseTargetReason(annotations?.[targetReasonAnnotation]);
  return givenAt === null ? null : { at: new Date(givenAt).toISOString(), why };
}
