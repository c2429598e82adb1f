import { bootImageHistories, type BootImageHistory } from '@slipway/api';
import { type Client, createClient, type Stored } from '@slipway/kube';
import { type Io, toJson, write } from '../cli/io.ts';
import { type ClusterOptions, connect } from '../cli/program.ts';
import { paintFor } from '../cli/terminal.ts';
import { type HistoryReport, historyReport, resourceOf } from './history-report.ts';
import { historyText } from './history-text.ts';
import { allResources, type MachineNamespaces, readMachines } from './machine-resources.ts';
import { isMeant, noSuch, type Which } from './which-resource.ts';

export interface HistoryOptions extends ClusterOptions, MachineNamespaces {
  namespace?: string;
  api?: 'mapi' | 'capi';
  output: 'table' | 'json';
}

export async function runBootImageHistory(name: string, options: HistoryOptions, io: Io): Promise<void> {
  const transport = await connect(options);
  try {
    const { namespace, api, output } = options;
    const reports = await readReports(createClient(transport), { name, namespace, api }, options);
    await write(io.stdout, output === 'json' ? toJson(reports) : historyText(reports, paintFor(io.stdout)));
  } finally {
    await transport.close();
  }
}

/** Of something that is gone the history may still be there; of something that is there it may not be yet. */
async function readReports(client: Client, which: Which, namespaces: MachineNamespaces): Promise<HistoryReport[]> {
  const histories = await readHistories(client, which, namespaces);
  if (histories.length > 0) return histories.map(historyReport);
  const found = allResources(await readMachines(client, namespaces)).filter((resource) => isMeant(which, resource));
  if (found.length === 0) throw noSuch(which);
  return found.map((resource) => ({ resource, entries: [] }));
}

export async function readHistories(
  client: Client,
  which: Which,
  { machineApiNamespace, clusterApiNamespace }: MachineNamespaces,
): Promise<Stored<BootImageHistory>[]> {
  const found: Stored<BootImageHistory>[] = [];
  const places = which.namespace === undefined ? [machineApiNamespace, clusterApiNamespace] : [which.namespace];
  for (const namespace of new Set(places)) {
    for await (const history of client.list(bootImageHistories, { namespace })) {
      if (isMeant(which, resourceOf(history))) found.push(history);
    }
  }
  return found;
}
