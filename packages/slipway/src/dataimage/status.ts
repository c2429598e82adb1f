import { bareMetalHosts, dataImages } from '@slipway/api';
import { type DriveReport, driveReport } from '@slipway/fleet/reports';
import { type Client, createClient } from '@slipway/kube';
import { type Io, toJson, write } from '../cli/io.ts';
import { type ClusterOptions, connect } from '../cli/program.ts';
import { paintFor, safeText, widthOf } from '../cli/terminal.ts';
import { driveText } from './drive-text.ts';
import { knowing, noSuchHost } from './find-host.ts';

export interface StatusOptions extends ClusterOptions {
  namespace: string;
  allNamespaces?: boolean;
  output: 'table' | 'json';
}

export async function runStatus(name: string | undefined, options: StatusOptions, io: Io): Promise<void> {
  const transport = await connect(options);
  try {
    const client = createClient(transport);
    const report = await knowing(client, () => read(client, name, options));
    await write(io.stdout, options.output === 'json' ? toJson(report) : textOf(report, name, options, io));
  } finally {
    await transport.close();
  }
}

function textOf(report: DriveReport, name: string | undefined, options: StatusOptions, io: Io): string {
  if (report.dataImages.length > 0) {
    return driveText(report, { paint: paintFor(io.stdout), width: widthOf(io.stdout) });
  }
  if (name !== undefined) return `${safeText(`BareMetalHost ${name} has no DataImage`)}.\n`;
  const where = options.allNamespaces === true ? 'The cluster' : `Namespace ${options.namespace}`;
  const hint = options.allNamespaces === true ? '' : ' --all-namespaces looks everywhere.';
  return `${safeText(where)} has no DataImage.${hint}\n`;
}

async function read(client: Client, name: string | undefined, options: StatusOptions): Promise<DriveReport> {
  const { namespace, allNamespaces = false } = options;
  const scope = {
    ...(allNamespaces ? {} : { namespace }),
    ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }),
  };
  const [images, hosts] = await Promise.all([
    Array.fromAsync(client.list(dataImages, scope)),
    Array.fromAsync(client.list(bareMetalHosts, scope)),
  ]);
  if (name !== undefined && images.length === 0 && hosts.length === 0) {
    throw await noSuchHost(client, { namespace, name });
  }
  return driveReport(images, hosts);
}
