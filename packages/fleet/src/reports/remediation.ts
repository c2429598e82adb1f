// What a person can do about a node that is where it is.
import type { NodePhase, RolloutDecision } from '../rollout/facts.ts';
import type { NodeFacts } from '../rollout/facts.ts';

export interface Situation {
  readonly node: NodeFacts;
  readonly pool: string;
  readonly phase: NodePhase;
  readonly poolPhase: RolloutDecision['phase'];
}

interface Remediation {
  readonly when: (situation: Situation) => boolean;
  readonly say: (situation: Situation) => string;
}

const isFailing = ({ node }: Situation): boolean => node.state === 'Degraded' || node.state === 'Unreconcilable';
/** Has what it is to have, and works. */
const isHealthy = ({ phase }: Situation): boolean => phase === 'updated';

/** In the order in which things are in the way; several may be. */
const remediations: readonly Remediation[] = [
  {
    when: ({ node }) => node.isBeingDeleted,
    say: ({ node }) => `Node ${node.name} is being deleted: nothing is to be done.`,
  },
  {
    when: (situation) => situation.poolPhase === 'stopped' && !isHealthy(situation),
    say: () => 'slipway resume --all lets the rollouts of all pools go on.',
  },
  {
    when: (situation) => situation.poolPhase === 'paused' && !isHealthy(situation),
    say: ({ pool }) => `slipway resume ${pool} lets the rollouts of the pool go on.`,
  },
  {
    when: ({ node }) => node.drainBlocked !== '',
    say: () =>
      'Give the pod’s owner more replicas, or change the budget, or delete the pod; the drain is tried again by itself.',
  },
  {
    when: (situation) => situation.phase === 'failed',
    say: ({ pool, node }) =>
      `Mend what node ${node.name} complains of; when it is well, the rollout goes on by itself. Or apply a better MachineConfig, or slipway cancel ${pool} to go back, or slipway resume ${pool} to go on with the other machines all the same.`,
  },
  {
    when: (situation) => situation.phase !== 'failed' && isFailing(situation),
    say: ({ node }) => `Mend what node ${node.name} complains of: it has its turn when its state is Done.`,
  },
  {
    when: (situation) => situation.poolPhase === 'halted' && situation.phase !== 'failed' && !isHealthy(situation),
    say: ({ pool }) =>
      `The rollout has halted because of another node: slipway status ${pool} names it. slipway cancel ${pool} goes back, slipway resume ${pool} goes on all the same.`,
  },
  {
    when: ({ node }) => node.isCordoned && !node.isCordonedByUs,
    say: ({ node }) => `Somebody cordoned it: kubectl uncordon ${node.name} when it may have its turn.`,
  },
  {
    when: ({ node }) => !node.isReady && node.state !== 'Rebooting',
    say: ({ node }) =>
      `kubectl describe node ${node.name} says what its kubelet reports; look at the machine if it does not answer.`,
  },
  {
    when: ({ node }) => node.current === null,
    say: ({ node }) =>
      `Its daemon has said nothing yet: see that slipway daemon runs on ${node.name} (journalctl -u machine-config-daemon there).`,
  },
];

export function listRemediations(situation: Situation): string[] {
  const found = remediations.filter(({ when }) => when(situation)).map(({ say }) => say(situation));
  if (found.length > 0) return found;
  const { pool, phase } = situation;
  if (phase === 'updated') return ['Nothing is to be done.'];
  return [`Nothing is to be done: it goes by itself. slipway status ${pool} --watch shows it.`];
}
