import { bootImageHistories, type BootImageHistory } from '@slipway/api';
import { resourceWords } from '@slipway/fleet/boot-images';
import {
  type BootImageHistoryEntry,
  type BootImageHistoryReport,
  bootImageHistoryReport,
  resourceOfHistory,
} from '@slipway/fleet/reports';
import type { Client, Stored } from '@slipway/kube';
import type { Io } from '../cli/io.ts';
import type { ClusterOptions } from '../cli/program.ts';
import { clusterCommand } from '../cli/run.ts';
import { type Cell, type Paint, plain, safeText, table } from '../cli/terminal.ts';
import {
  allResources,
  isMeant,
  type MachineNamespaces,
  noSuch,
  readMachines,
  type Which,
} from './machine-resources.ts';

export interface HistoryOptions extends ClusterOptions, MachineNamespaces {
  namespace?: string;
  api?: 'mapi' | 'capi';
  output: 'table' | 'json';
}

export const runBootImageHistory = (name: string, options: HistoryOptions, io: Io): Promise<void> =>
  clusterCommand({
    options,
    io,
    load: (client) => readReports(client, { name, namespace: options.namespace, api: options.api }, options),
    report: (reports) => reports,
    text: (reports, { paint }) => historyText(reports, paint),
  });

/** A deleted resource may still have a history, and a new one may not have any yet. */
async function readReports(
  client: Client,
  which: Which,
  namespaces: MachineNamespaces,
): Promise<BootImageHistoryReport[]> {
  const histories = await readHistories(client, which, namespaces);
  if (histories.length > 0) return histories.map(bootImageHistoryReport);
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
      if (isMeant(which, resourceOfHistory(history))) found.push(history);
    }
  }
  return found;
}

export const historyText = (reports: readonly BootImageHistoryReport[], paint: Paint = plain): string =>
  reports.map((report) => reportText(report, paint)).join('\n');

function reportText({ resource, entries }: BootImageHistoryReport, paint: Paint): string {
  const title = safeText(`${resourceWords(resource)} of ${resource.api}`);
  if (entries.length === 0) return `${title}: its boot image has not changed yet\n`;
  const lost = entries.some(({ image }) => image === null);
  return [
    `${paint('bold', title)}, newest first\n`,
    table(['SET', 'VERSION', 'PAYLOAD', 'IMAGE'], entries.map(row), paint),
    ...(lost ? ['Only the last changes have their image; a version without an image cannot be restored.\n'] : []),
  ].join('');
}

const row = ({ at, version, configMapGeneration, image }: BootImageHistoryEntry): Cell[] => [
  // It is unknown when the original image was set.
  version === null ? 'before' : timeText(at),
  version ?? '-',
  configMapGeneration === null ? '-' : `#${configMapGeneration}`,
  image ?? '-',
];

/** In UTC, like the API. */
const timeText = (at: string): string => (at === '' ? '-' : at.replace('T', ' ').replace(/(?:\.\d+)?Z$/, 'Z'));
