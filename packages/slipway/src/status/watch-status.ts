// Status that follows the cluster until somebody presses Ctrl-C.
import type { FleetNow, StatusReport } from '@slipway/fleet/reports';
import type { Transport } from '@slipway/kube';
import { watchFleet } from '../cli/cluster.ts';
import type { Io } from '../cli/io.ts';
import { follow, liveReport } from '../cli/live.ts';
import { changeLines } from './change-lines.ts';
import { statusText } from './status-text.ts';

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
