// A fleet and the sets of images that its pools pin, as the cluster has them at one moment.
import { type PinnedImageSet, pinnedImageSets } from '@slipway/api';
import type { PinsNow } from '@slipway/fleet/reports';
import { type Client, createInformer, isKubeError, type Stored, type Transport } from '@slipway/kube';
import { notInstalled, readFleet, watchFleet, type WatchOptions } from '../cli/cluster.ts';
import type { Followed } from '../cli/live.ts';

/** Reads only. */
export async function readPins(client: Client): Promise<PinsNow> {
  const fleet = await readFleet(client);
  const sets = new Map<string, Stored<PinnedImageSet>>();
  try {
    for await (const set of client.list(pinnedImageSets)) sets.set(set.metadata.name, set);
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED', 'SLW_KUBE_NOT_FOUND')) throw error;
    throw notInstalled(client.transport.server, error);
  }
  return { fleet, sets };
}

/** The same, kept up to date. */
export function watchPins(transport: Transport, options: WatchOptions): Followed<PinsNow> {
  const fleet = watchFleet(transport, options);
  const { signal, onChange } = options;
  const sets = createInformer(transport, { resource: pinnedImageSets, longestBackoffMs: 5000, onProblem: onChange });
  sets.onChange(onChange);
  sets.start(signal);
  return {
    synced: Promise.all([fleet.synced, sets.synced]),
    now: () => ({
      fleet: fleet.now(),
      sets: new Map([...sets.store.values()].map((set) => [set.metadata.name, set])),
    }),
    problem: () => fleet.problem() ?? (sets.problem instanceof Error ? sets.problem.message : null),
  };
}
