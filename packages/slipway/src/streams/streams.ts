import { machineConfigPools } from '@slipway/api';
import { streamsOf } from '@slipway/fleet';
import { type StreamsReport, streamsReport } from '@slipway/fleet/reports';
import { type Client, createClient, isKubeError } from '@slipway/kube';
import { findOsImageStream, notInstalled, readGate } from '../cli/cluster.ts';
import { type Io, toJson, write } from '../cli/io.ts';
import { type ClusterOptions, connect } from '../cli/program.ts';
import { paintFor, widthOf } from '../cli/terminal.ts';
import { streamsText } from './streams-text.ts';

export interface StreamsOptions extends ClusterOptions {
  output: 'table' | 'json';
}

export async function runStreams(options: StreamsOptions, io: Io): Promise<void> {
  const transport = await connect(options);
  try {
    const report = await readReport(createClient(transport));
    const text =
      options.output === 'json'
        ? toJson(report)
        : streamsText(report, { paint: paintFor(io.stdout), width: widthOf(io.stdout) });
    await write(io.stdout, text);
  } finally {
    await transport.close();
  }
}

async function readReport(client: Client): Promise<StreamsReport> {
  try {
    const pools = await Array.fromAsync(client.list(machineConfigPools));
    const found = await findOsImageStream(client);
    return streamsReport(found === undefined ? null : streamsOf(found), pools, await readGate(client, 'OSStreams'));
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED', 'SLW_KUBE_NOT_FOUND')) throw error;
    throw notInstalled(client.transport.server, error);
  }
}
