// Status that follows the cluster until somebody presses Ctrl-C.
import { decideFleet } from '@slipway/fleet';
import { type FleetNow, type StatusReport, statusReport } from '@slipway/fleet/reports';
import { createClient, type Transport } from '@slipway/kube';
import { namedPools, readFleet, watchFleet } from '../cli/cluster.ts';
import { type Io, toJson, write } from '../cli/io.ts';
import { follow, liveReport } from '../cli/live.ts';
import { type ClusterOptions, connect, stopSignal } from '../cli/program.ts';
import { paintFor, widthOf } from '../cli/terminal.ts';
import { changeLines, statusText } from './text.ts';

export interface WatchStatusOptions {
  readonly transport: Transport;
  readonly report: (fleet: FleetNow) => StatusReport;
  readonly json: boolean;
  readonly allNodes: boolean;
  readonly io: Io;
  readonly signal: AbortSignal;
}

export function watchStatus({ transport, report, json, allNodes, io, signal }: WatchStatusOptions): Promise<void> {
  const show = liveReport<StatusReport>({
    io,
    json,
    text: (now, options) => statusText(now, { ...options, allNodes }),
    changes: changeLines,
  });
  return follow({
    watch: (onChange) => watchFleet(transport, { signal, onChange }),
    show: (fleet, problem) => show(report(fleet), problem),
    signal,
  });
}

export interface StatusOptions extends ClusterOptions {
  watch?: boolean;
  allNodes?: boolean;
  output: 'table' | 'json';
}

export async function runStatus(pools: readonly string[], options: StatusOptions, io: Io): Promise<void> {
  const transport = await connect(options);
  try {
    await showStatus(transport, pools, options, io);
  } finally {
    await transport.close();
  }
}

async function showStatus(
  transport: Transport,
  pools: readonly string[],
  options: StatusOptions,
  io: Io,
): Promise<void> {
  // Read once also before a watch: what is wrong with the cluster or the names is said at once.
  const fleet = await readFleet(createClient(transport));
  const only = namedPools(fleet, pools);
  const report = (now: FleetNow): StatusReport => statusReport(now, decideFleet(now, Date.now()), only);
  if (options.watch === true) {
    await watchStatus({
      transport,
      report,
      json: options.output === 'json',
      allNodes: options.allNodes === true,
      io,
      signal: stopSignal(),
    });
    return;
  }
  const text =
    options.output === 'json'
      ? toJson(report(fleet))
      : statusText(report(fleet), {
          paint: paintFor(io.stdout),
          allNodes: options.allNodes === true,
          width: widthOf(io.stdout),
        });
  await write(io.stdout, text);
}
