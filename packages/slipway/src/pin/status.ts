// A fleet and the sets of images that its pools pin, as the cluster has them at one moment.
import { type PinnedImageSet, pinnedImageSets } from '@slipway/api';
import { type PinReport, pinReport, type PinsNow } from '@slipway/fleet/reports';
import { type Client, createClient, createInformer, isKubeError, type Stored, type Transport } from '@slipway/kube';
import { namedPools, notInstalled, readFleet, readGate, watchFleet, type WatchOptions } from '../cli/cluster.ts';
import { type Io, toJson, write } from '../cli/io.ts';
import { follow, type Followed, liveReport } from '../cli/live.ts';
import { type ClusterOptions, connect, stopSignal } from '../cli/program.ts';
import { paintFor, widthOf } from '../cli/terminal.ts';
import { pinChanges, pinText } from './status-text.ts';

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

export interface PinStatusOptions extends ClusterOptions {
  watch?: boolean;
  allNodes?: boolean;
  output: 'table' | 'json';
}

export async function runPinStatus(pools: readonly string[], options: PinStatusOptions, io: Io): Promise<void> {
  const transport = await connect(options);
  try {
    await showPins(transport, pools, options, io);
  } finally {
    await transport.close();
  }
}

async function showPins(
  transport: Transport,
  pools: readonly string[],
  { watch = false, allNodes = false, output }: PinStatusOptions,
  io: Io,
): Promise<void> {
  const client = createClient(transport);
  // Read once also before a watch: what is wrong with the cluster or the names is said at once.
  const first = await readPins(client);
  const only = namedPools(first.fleet, pools);
  const gate = await readGate(client, 'PinnedImages');
  const report = (now: PinsNow): PinReport => pinReport(now, gate, only);
  if (!watch) {
    const options = { paint: paintFor(io.stdout), width: widthOf(io.stdout), allNodes };
    await write(io.stdout, output === 'json' ? toJson(report(first)) : pinText(report(first), options));
    return;
  }
  const show = liveReport<PinReport>({
    io,
    json: output === 'json',
    text: (now, options) => pinText(now, { ...options, allNodes }),
    changes: pinChanges,
  });
  const signal = stopSignal();
  await follow({
    watch: (onChange) => watchPins(transport, { signal, onChange }),
    show: (now, problem) => show(report(now), problem),
    signal,
  });
}
