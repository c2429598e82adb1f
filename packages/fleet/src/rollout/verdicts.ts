import type { Assignment, NodeVerdict, RolloutDecision } from './facts.ts';
import type { NodeFacts } from './facts.ts';
import { describeFailure } from './lifecycle.ts';
import { isCordonedByPerson, isFailing, type NodeState } from './node-state.ts';
import { type Situation, waitReason } from './summary.ts';

// For every machine of a pool: why it is updated now, or why not.

export function buildVerdicts(
  situation: Situation,
  phase: RolloutDecision['phase'],
  give: readonly Assignment[],
): ReadonlyMap<string, NodeVerdict> {
  const verdicts = new Map<string, NodeVerdict>();
  // The same for all waiting machines: 5,000 of them share one sentence.
  const wait = waitReason(situation, phase, give);
  for (const stand of situation.stands) verdicts.set(stand.node.name, buildVerdict(stand, situation.target, wait));
  for (const { node, why } of give) {
    verdicts.set(node, { phase: 'next', why, isUnavailable: verdicts.get(node)?.isUnavailable === true });
  }
  return verdicts;
}

function buildVerdict({ node, standing, isUnavailable }: NodeState, target: string, wait: string): NodeVerdict {
  switch (standing) {
    case 'well':
      return { phase: 'updated', why: hasIt(node, target), isUnavailable };
    case 'moving':
      return { phase: 'updating', why: describeProgress(node, target), isUnavailable };
    case 'failed':
      return { phase: 'failed', why: describeFailure(node), isUnavailable };
    case 'drifted':
      return { phase: 'drifted', why: describeDrift(node, target), isUnavailable };
    case 'skipped':
      return { phase: 'skipped', why: skippedFor(node), isUnavailable };
    case 'busy':
      return { phase: 'waiting', why: busyWith(node), isUnavailable };
    default:
      return { phase: 'waiting', why: wait, isUnavailable };
  }
}

const hasIt = (node: NodeFacts, target: string): string =>
  `has ${target}${isCordonedByPerson(node) ? '; cordoned by a user' : ''}`;

function describeProgress(node: NodeFacts, target: string): string {
  const trouble = node.isReady || node.current === target ? '' : `; not ready: ${node.notReady}`;
  return `${describeUpdate(node, target)}${node.state === 'Rebooting' ? '' : trouble}`;
}

function describeUpdate(node: NodeFacts, target: string): string {
  if (node.drainBlocked !== '') return `drain blocked: ${node.drainBlocked}`;
  if (node.current === target && node.state === 'Done') {
    return node.isReady ? `has ${target}; being uncordoned` : `has ${target} but is not ready: ${node.notReady}`;
  }
  if (node.state === 'Rebooting') return `rebooting into ${target}`;
  if (node.state === 'Working') return `the daemon is applying ${target}`;
  return `assigned ${target}; the daemon has not started the update yet`;
}

/** The daemon's report names the config that the machine differs from. */
const describeDrift = (node: NodeFacts, target: string): string =>
  `${node.current === target ? `has ${target}` : `not updated to ${target} yet`}; drifted: ${describeFailure(node)}`;

function skippedFor(node: NodeFacts): string {
  if (node.isBeingDeleted) return 'the Node is being deleted';
  if (isCordonedByPerson(node))
    return `cordoned by a user; it is updated once uncordoned (kubectl uncordon ${node.name})`;
  if (node.current === null) return 'the daemon has not reported the current config yet';
  if (isFailing(node)) return `degraded at its current config, so an update would fail: ${describeFailure(node)}`;
  return `not ready: ${node.notReady}`;
}

const busyWith = (node: NodeFacts): string =>
  node.isCordonedByUs
    ? `being uncordoned after its update to ${node.current}`
    : `the daemon is busy (${node.state ?? 'no state reported'})`;
