import { pinnedImageSets } from '@slipway/api';
import { pinReport, type PinSnapshot } from '@slipway/fleet/reports';
import { type Client, createInformer } from '@slipway/kube';
import { checkPools, readFleet, readGate, watchFleet, whereInstalled } from '../cli/cluster.ts';
import type { Io } from '../cli/io.ts';
import type { LiveSource, WatchOptions } from '../cli/live.ts';
import type { ClusterOptions } from '../cli/program.ts';
import { clusterCommand } from '../cli/run.ts';
import { pinChanges, pinText } from './status-text.ts';

export interface PinStatusOptions extends ClusterOptions {
  watch?: boolean;
  allNodes?: boolean;
  output: 'table' | 'json';
}

export function runPinStatus(pools: readonly string[], options: PinStatusOptions, io: Io): Promise<void> {
  const { allNodes = false } = options;
  const only = pools.length === 0 ? null : new Set(pools);
  return clusterCommand({
    options,
    io,
    load: async (client) => {
      const pins = await readPins(client);
      checkPools(pins.fleet, pools);
      return { pins, gate: await readGate(client, 'PinnedImages') };
    },
    report: ({ pins, gate }) => pinReport(pins, gate, only),
    text: (report, style) => pinText(report, { ...style, allNodes }),
    live: {
      watch: (client, watching, { gate }) => {
        const followed = watchPins(client, watching);
        return { ...followed, now: () => ({ pins: followed.now(), gate }) };
      },
      changes: pinChanges,
    },
  });
}

/** Writes nothing. */
export async function readPins(client: Client): Promise<PinSnapshot> {
  const fleet = await readFleet(client);
  const sets = await whereInstalled(client, () => Array.fromAsync(client.list(pinnedImageSets)));
  return { fleet, sets: new Map(sets.map((set) => [set.metadata.name, set])) };
}

/** Like readPins, but kept up to date by watches. */
function watchPins(client: Client, options: WatchOptions): LiveSource<PinSnapshot> {
  const fleet = watchFleet(client, options);
  const { signal, onChange } = options;
  const sets = createInformer(client.transport, {
    resource: pinnedImageSets,
    longestBackoffMs: 5000,
    onProblem: onChange,
  });
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
