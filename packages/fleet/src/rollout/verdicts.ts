import type { Assignment, NodeVerdict, RolloutDecision } from './facts.ts';
import type { NodeFacts } from './facts.ts';
import { describeFailure } from './lifecycle.ts';
import { isCordonedByPerson, isFailing, type NodeState } from './node-state.ts';
import { type Situation, waitReason } from './summary.ts';

// For every machine of a pool: why it now, or why not.

export function buildVerdicts(
  situation: Situation,
  phase: RolloutDecision['phase'],
  give: readonly Assignment[],
): ReadonlyMap<string, NodeVerdict> {
  const verdicts = new Map<string, NodeVerdict>();
  // The same for all that wait: 5,000 machines share one sentence.
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
    case 'skipped':
      return { phase: 'skipped', why: skippedFor(node), isUnavailable };
    case 'busy':
      return { phase: 'waiting', why: busyWith(node), isUnavailable };
    default:
      return { phase: 'waiting', why: wait, isUnavailable };
  }
}

const hasIt = (node: NodeFacts, target: string): string =>
  `it has ${target}${isCordonedByPerson(node) ? ', and is cordoned by somebody' : ''}`;

function describeProgress(node: NodeFacts, target: string): string {
  if (node.drainBlocked !== '') return `its drain waits: ${node.drainBlocked}`;
  if (node.current === target && node.state === 'Done') {
    return node.isReady
      ? `it has ${target} and gets its pods back`
      : `it has ${target} and is not ready: ${node.notReady}`;
  }
  if (node.state === 'Rebooting') return `it reboots into ${target}`;
  if (node.state === 'Working') return `its daemon brings it to ${target}`;
  return `its daemon was told of ${target} and has not begun yet`;
}

function skippedFor(node: NodeFacts): string {
  if (node.isBeingDeleted) return 'it is being deleted';
  if (isCordonedByPerson(node))
    return `somebody cordoned it: it has its turn when it is uncordoned (kubectl uncordon ${node.name})`;
  if (node.current === null) return 'its daemon has not said yet which config it has';
  if (isFailing(node)) return `it is degraded at the config it has, and would only fail: ${describeFailure(node)}`;
  return `it is not ready: ${node.notReady}`;
}

const busyWith = (node: NodeFacts): string =>
  node.isCordonedByUs
    ? `it gets its pods back after an update to ${node.current}`
    : `its daemon is at work (${node.state ?? 'it has not said at what'})`;
