import { decideFleet } from '@slipway/fleet';
import { statusReport } from '@slipway/fleet/reports';
import { checkPools, readFleet, watchFleet } from '../cli/cluster.ts';
import type { Io } from '../cli/io.ts';
import type { ClusterOptions } from '../cli/program.ts';
import { clusterCommand } from '../cli/run.ts';
import { changeLines, statusText } from './text.ts';

export interface StatusOptions extends ClusterOptions {
  watch?: boolean;
  allNodes?: boolean;
  output: 'table' | 'json';
}

export function runStatus(pools: readonly string[], options: StatusOptions, io: Io): Promise<void> {
  const { allNodes = false } = options;
  const only = pools.length === 0 ? null : new Set(pools);
  return clusterCommand({
    options,
    io,
    load: async (client) => checkPools(await readFleet(client), pools),
    report: (fleet) => statusReport(fleet, decideFleet(fleet, Date.now()), only),
    text: (report, style) => statusText(report, { ...style, allNodes }),
    live: { watch: watchFleet, changes: changeLines },
  });
}
