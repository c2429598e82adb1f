// What a user can do about a node in its current state.
import { driftPolicyAnnotation } from '@slipway/api/names';
import type { NodePhase, RolloutDecision } from '../rollout/facts.ts';
import type { NodeFacts } from '../rollout/facts.ts';
import { formatNames } from '../rollout/node-state.ts';

export interface Situation {
  readonly node: NodeFacts;
  readonly pool: string;
  readonly phase: NodePhase;
  readonly poolPhase: RolloutDecision['phase'];
  /** The machines that keep the rollout waiting until a user acts. */
  readonly slotHolders: readonly NodeFacts[];
}

interface Remediation {
  readonly when: (situation: Situation) => boolean;
  readonly say: (situation: Situation) => string;
}

const isFailing = ({ node }: Situation): boolean => node.state === 'Degraded' || node.state === 'Unreconcilable';
/** Has the target and is healthy. */
const isHealthy = ({ phase }: Situation): boolean => phase === 'updated';

/** In the order in which they block an update; several may apply. */
const remediations: readonly Remediation[] = [
  {
    when: ({ node }) => node.isBeingDeleted,
    say: ({ node }) => `No action needed: Node ${node.name} is being deleted.`,
  },
  {
    when: (situation) => situation.poolPhase === 'stopped' && !isHealthy(situation),
    say: () => 'Resume the rollouts of all pools: slipway resume --all',
  },
  {
    when: (situation) => situation.poolPhase === 'paused' && !isHealthy(situation),
    say: ({ pool }) => `Resume the rollouts of pool ${pool}: slipway resume ${pool}`,
  },
  {
    when: ({ node }) => node.drainBlocked !== '',
    say: () => 'Add replicas, change the PodDisruptionBudget, or delete the pod. The drain retries automatically.',
  },
  {
    when: (situation) => situation.phase === 'failed',
    say: ({ pool, node }) =>
      `Fix the problem that node ${node.name} reports: the rollout continues automatically once the node is healthy. Or apply a corrected MachineConfig, roll back (slipway cancel ${pool}), or continue with the other nodes (slipway resume ${pool}).`,
  },
  {
    when: (situation) => situation.phase === 'drifted',
    say: ({ pool, node }) =>
      `Revert the change on node ${node.name}, add it to a MachineConfig, or have the daemon revert it (annotation ${driftPolicyAnnotation}=heal of the MachineConfiguration cluster). Until then the node counts as unavailable and the next wave does not start. To start that wave anyway: slipway resume ${pool}.`,
  },
  {
    when: (situation) => !['failed', 'drifted'].includes(situation.phase) && isFailing(situation),
    say: ({ node }) => `Fix the problem that node ${node.name} reports: it is updated once its state is Done.`,
  },
  {
    when: (situation) => situation.poolPhase === 'halted' && situation.phase !== 'failed' && !isHealthy(situation),
    say: ({ pool }) =>
      `The rollout is halted because of another node, or because of the pool’s target: slipway status ${pool} shows which. Roll back (slipway cancel ${pool}) or continue anyway (slipway resume ${pool}).`,
  },
  {
    when: ({ phase, slotHolders }) => phase === 'waiting' && slotHolders.length > 0,
    say: ({ pool, slotHolders }) =>
      `It waits until a user acts: ${formatNames(slotHolders)} ${slotHolders.length === 1 ? 'is' : 'are'} cordoned by a user or failed, and ${slotHolders.length === 1 ? 'counts' : 'count'} as unavailable. See what to do there: slipway why ${slotHolders[0]?.name}. Or raise spec.maxUnavailable of pool ${pool}.`,
  },
  {
    when: ({ node }) => node.isCordoned && !node.isCordonedByUs,
    say: ({ node }) => `A user cordoned it. To let it update: kubectl uncordon ${node.name}`,
  },
  {
    when: ({ node }) => !node.isReady && node.state !== 'Rebooting',
    say: ({ node }) =>
      `Check what the kubelet reports: kubectl describe node ${node.name}. If it does not report, check the machine.`,
  },
  {
    when: ({ node }) => node.current === null,
    say: ({ node }) =>
      `The daemon has not reported yet. Check that it runs on ${node.name}: journalctl -u machine-config-daemon`,
  },
];

export function listRemediations(situation: Situation): string[] {
  const found = remediations.filter(({ when }) => when(situation)).map(({ say }) => say(situation));
  if (found.length > 0) return found;
  const { pool, phase } = situation;
  if (phase === 'updated') return ['No action needed.'];
  return [`No action needed. Follow it with: slipway status ${pool} --watch`];
}
