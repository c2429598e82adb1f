// The writes of a drain to a Node: each lands on the very version that it was decided on, or not at all.
import {
  cordonedAnnotation,
  drainBlockedAnnotation,
  drainSinceAnnotation,
  type Node,
  nodeAnnotations,
  nodes,
} from '@slipway/api';
import type { Client, Stored } from '@slipway/kube';
import type { DrainWish } from './drain-facts.ts';

interface NodeChange {
  /** Null: pods may come. Left out: as it is. */
  readonly unschedulable?: true | null;
  readonly annotations: Readonly<Record<string, string | null>>;
}

/** `since`: when the drain began, if it is one that goes on. */
export const cordonChange = (ours: boolean, since: number | null, now: Date): NodeChange => ({
  ...(ours && { unschedulable: true }),
  annotations: {
    ...(ours && { [cordonedAnnotation]: now.toISOString() }),
    ...(since === null && { [drainSinceAnnotation]: now.toISOString() }),
  },
});

export const answerChange = (wish: DrainWish): NodeChange => ({
  annotations: {
    [nodeAnnotations.lastAppliedDrain]: wish.text,
    [drainSinceAnnotation]: null,
    [drainBlockedAnnotation]: null,
  },
});

export const uncordonChange = (wish: DrainWish, ours: boolean): NodeChange => ({
  ...(ours && { unschedulable: null }),
  annotations: {
    [nodeAnnotations.lastAppliedDrain]: wish.text,
    ...(ours && { [cordonedAnnotation]: null }),
    [drainSinceAnnotation]: null,
    [drainBlockedAnnotation]: null,
  },
});

export const disownChange: NodeChange = { annotations: { [cordonedAnnotation]: null } };

export const blockedChange = (text: string): NodeChange => ({
  annotations: { [drainBlockedAnnotation]: text === '' ? null : text },
});

export function patchNode(
  { metadata }: Stored<Node>,
  { unschedulable, annotations }: NodeChange,
  client: Client,
): Promise<Stored<Node>> {
  const { uid, resourceVersion } = metadata;
  const body = { metadata: { annotations }, ...(unschedulable !== undefined && { spec: { unschedulable } }) };
  return client.patch(nodes, metadata, { type: 'merge', body }, { uid, resourceVersion }, { fieldManager });
}

const fieldManager = 'slipway-drain';
