// What of a Node decides whether images are pulled to it.
import type { Node } from '@slipway/api';

export interface NodeCondition {
  readonly isReady: boolean;
  readonly hasDiskPressure: boolean;
}

/** A node that says nothing of it is not Ready, as for the scheduler. */
export function nodeConditionOf(node: Pick<Node, 'status'> | undefined): NodeCondition {
  const conditions = node?.status?.conditions ?? [];
  const isTrue = (type: string): boolean =>
    conditions.some((condition) => condition.type === type && condition.status === 'True');
  return { isReady: isTrue('Ready'), hasDiskPressure: isTrue('DiskPressure') };
}

export const isWell = ({ isReady, hasDiskPressure }: NodeCondition): boolean => isReady && !hasDiskPressure;
