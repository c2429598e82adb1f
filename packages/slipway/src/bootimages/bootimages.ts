import { type BootImagesReport, bootImagesReport } from '@slipway/fleet/reports';
import { type Client, createClient, isKubeError } from '@slipway/kube';
import { notInstalled, readGate } from '../cli/cluster.ts';
import { type Io, toJson, write } from '../cli/io.ts';
import { type ClusterOptions, connect } from '../cli/program.ts';
import { paintFor, widthOf } from '../cli/terminal.ts';
import { bootImagesText } from './bootimages-text.ts';
import { type MachineNamespaces, readMachines } from './machine-resources.ts';
import { readCluster } from './read-cluster.ts';
import { readVerdicts } from './verdicts.ts';

export interface BootImagesOptions extends ClusterOptions, MachineNamespaces {
  namespace: string;
  output: 'table' | 'json';
}

export async function runBootImages(options: BootImagesOptions, io: Io): Promise<void> {
  const transport = await connect(options);
  try {
    const report = await readReport(createClient(transport), options);
    const text =
      options.output === 'json'
        ? toJson(report)
        : bootImagesText(report, { paint: paintFor(io.stdout), width: widthOf(io.stdout) });
    await write(io.stdout, text);
  } finally {
    await transport.close();
  }
}

async function readReport(client: Client, options: BootImagesOptions): Promise<BootImagesReport> {
  try {
    const cluster = await readCluster(client, options.namespace);
    const entries = await readVerdicts(client, await readMachines(client, options), cluster);
    return bootImagesReport(await readGate(client, 'ManagedBootImages'), cluster.facts, entries);
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED')) throw error;
    throw notInstalled(client.transport.server, error);
  }
}
