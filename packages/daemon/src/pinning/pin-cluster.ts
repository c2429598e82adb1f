// The cluster, as far as pinned images need it: the sets by their names, and the status of the node’s MachineConfigNode.
import { isDeepStrictEqual } from 'node:util';
import { machineConfigNodes, pinnedImageSets } from '@slipway/api/resources';
import { type Client, isKubeError } from '@slipway/kube';
import type { SetSource } from './assigned-sets.ts';
import type { PinSnapshot } from './pin-snapshot.ts';
import { type PinStatus, pinStatusOf } from './pin-status.ts';

/** Rejects as the client does. */
export interface PinCluster extends SetSource {
  /** In one write; none where the cluster knows. Null: nothing is asked of the node. */
  report(snapshot: PinSnapshot | null, signal: AbortSignal): Promise<void>;
}

const fieldManager = 'machine-config-daemon';
const attempts = 3;

export function createPinCluster(client: Client, nodeName: string): PinCluster {
  const name = { name: nodeName };

  async function reportOnce(snapshot: PinSnapshot | null, signal: AbortSignal): Promise<void> {
    const found = await client.find(machineConfigNodes, name, { signal });
    if (found === undefined) return;
    const { first, last } = pinStatusOf(found, snapshot, new Date());
    let { resourceVersion } = found.metadata;
    const { conditions, pinnedImageSets = null } = found.status ?? {};
    let there: unknown = { conditions, pinnedImageSets };
    for (const status of [first, last]) {
      if (status === null || isDeepStrictEqual(status, there)) continue;
      resourceVersion = await write(status, found.metadata.uid, resourceVersion);
      there = status;
    }
  }

  /** A merge patch puts a list whole in the place of the old one: so it has to be the one that was read. */
  async function write(status: PinStatus, uid: string, resourceVersion: string): Promise<string> {
    const patch = { type: 'merge', body: { status } } as const;
    const options = { subresource: 'status', fieldManager } as const;
    const written = await client.patch(machineConfigNodes, name, patch, { uid, resourceVersion }, options);
    return written.metadata.resourceVersion;
  }

  return {
    findSet: (set, signal) => client.find(pinnedImageSets, { name: set }, { signal }),
    async report(snapshot, signal) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await reportOnce(snapshot, signal);
        } catch (error) {
          // The controller wrote an annotation, or this daemon another part of the status.
          if (attempt === attempts || !isKubeError(error, 'SLW_KUBE_CONFLICT')) throw error;
        }
      }
    },
  };
}
