import { type PinReport, pinReport, type PinsNow } from '@slipway/fleet/reports';
import { createClient, type Transport } from '@slipway/kube';
import { namedPools, readGate } from '../cli/cluster.ts';
import { type Io, toJson, write } from '../cli/io.ts';
import { follow, liveReport } from '../cli/live.ts';
import { type ClusterOptions, connect, stopSignal } from '../cli/program.ts';
import { paintFor, widthOf } from '../cli/terminal.ts';
import { pinChanges } from './pin-changes.ts';
import { pinText } from './pin-text.ts';
import { readPins, watchPins } from './pins-now.ts';

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
