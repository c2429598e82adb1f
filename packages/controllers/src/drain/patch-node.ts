// The writes of a drain to a Node: each lands on the very version that it was decided on, or not at all.
import {
  cordonedAnnotation,
  drainBlockedAnnotation,
  drainSinceAnnotation,
  type Node,
  nodeAnnotations,
  nodes,
} from '@slipway/api';
import type { DrainWish } from '@slipway/fleet/drain';
import type { Client, Store, Stored } from '@slipway/kube';
import { createFreshness } from '../freshness.ts';

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

export interface NodeWriter {
  patch(node: Stored<Node>, change: NodeChange, client: Client): Promise<Stored<Node>>;
  /** The watch has not brought what was written last: what it shows was decided on before. */
  isBehind(name: string, seen: Pick<Store<Node>, 'get'>): boolean;
}

export function createNodeWriter(): NodeWriter {
  const fresh = createFreshness();
  return {
    async patch({ metadata }, { unschedulable, annotations }, client) {
      const { uid, resourceVersion } = metadata;
      const body = { metadata: { annotations }, ...(unschedulable !== undefined && { spec: { unschedulable } }) };
      const patch = { type: 'merge', body } as const;
      const written = await client.patch(nodes, metadata, patch, { uid, resourceVersion }, { fieldManager });
      fresh.wrote(nodes.kind, written);
      return written;
    },
    isBehind: (name, seen) => fresh.isBehind(nodes.kind, seen, name),
  };
}

const fieldManager = 'slipway-drain';
