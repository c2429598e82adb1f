// What the cluster says of this node, at one moment.
import type { MachineConfigNode, MachineConfiguration, Node } from '@slipway/api';
import { drainBlockedAnnotation, nodeAnnotations } from '@slipway/api/names';

export interface Seen {
  readonly node: Pick<Node, 'metadata'>;
  readonly machineConfigNode: Pick<MachineConfigNode, 'metadata'> | undefined;
  readonly machineConfiguration: MachineConfiguration | undefined;
}

/** Null: the Node says nothing of it. */
export interface Said {
  readonly currentConfig: string | null;
  readonly desiredConfig: string | null;
  readonly desiredDrain: string | null;
  readonly lastAppliedDrain: string | null;
  /** What the controller says that the drain waits for; '' for nothing. */
  readonly drainBlocked: string;
}

export function saidBy({ node }: Seen): Said {
  const { annotations = {} } = node.metadata;
  return {
    currentConfig: annotations[nodeAnnotations.currentConfig] ?? null,
    desiredConfig: annotations[nodeAnnotations.desiredConfig] ?? null,
    desiredDrain: annotations[nodeAnnotations.desiredDrain] ?? null,
    lastAppliedDrain: annotations[nodeAnnotations.lastAppliedDrain] ?? null,
    drainBlocked: annotations[drainBlockedAnnotation] ?? '',
  };
}

export const drainFor = (config: string): string => `drain-${config}`;
export const uncordonFor = (config: string): string => `uncordon-${config}`;

/** Whether the pods of a node that needs no drain any more are away, or are asked to go, or not back yet. */
export function wantsPodsBack(
  current: string,
  { desiredDrain, lastAppliedDrain }: Pick<Said, 'desiredDrain' | 'lastAppliedDrain'>,
): boolean {
  const isAway = lastAppliedDrain?.startsWith('drain-') === true || desiredDrain?.startsWith('drain-') === true;
  return isAway || (desiredDrain === uncordonFor(current) && lastAppliedDrain !== desiredDrain);
}
