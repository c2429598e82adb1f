// What a node does at this moment, from the conditions of its MachineConfigNode.
import type { MachineConfigNode } from '@slipway/api';

/** The last one under way tells it best: parents come before their parts, early steps before late ones. */
const steps: readonly (readonly [type: string, words: string])[] = [
  ['UpdatePrepared', 'preparing'],
  ['ImagePulledFromRegistry', 'downloading the OS image'],
  ['UpdateExecuted', 'applying'],
  ['Cordoned', 'cordoning'],
  ['Drained', 'draining'],
  ['AppliedFilesAndOS', 'applying'],
  ['AppliedFiles', 'applying files'],
  ['AppliedOSImage', 'applying the OS'],
  ['UpdatePostActionComplete', 'post action'],
  ['RebootedNode', 'rebooting'],
  ['UpdateComplete', 'verifying'],
  ['Uncordoned', 'uncordoning'],
];

export interface NodeStep {
  /** '' where nothing is under way. */
  readonly words: string;
  /** Since when, as the API writes times; '' where it is not known. */
  readonly since: string;
}

export const noStep: NodeStep = { words: '', since: '' };

export function nodeStepOf(record: MachineConfigNode | undefined): NodeStep {
  const conditions = record?.status?.conditions ?? [];
  const underWay = steps.flatMap(([type, words]) => {
    const condition = conditions.find((each) => each.type === type && each.status === 'Unknown');
    if (condition === undefined) return [];
    // While an update is taken back, all of its steps are under way at once.
    if (condition.reason === 'RollingBack') return [{ words: 'going back', since: condition.lastTransitionTime }];
    return [{ words, since: condition.lastTransitionTime }];
  });
  return underWay.at(-1) ?? noStep;
}
