import { bareMetalHosts, dataImages } from '@slipway/api';
import {
  type DriveEntry,
  type DriveReport,
  driveReport,
  type DriveState,
  type HostEntry,
} from '@slipway/fleet/reports';
import type { Client } from '@slipway/kube';
import type { Io } from '../cli/io.ts';
import type { ClusterOptions } from '../cli/program.ts';
import { clusterCommand } from '../cli/run.ts';
import { type Cell, type Colour, plain, safeLine, safeText, table, type TextStyle, wrapText } from '../cli/terminal.ts';
import { knowing, noSuchHost } from './data-image.ts';

export interface StatusOptions extends ClusterOptions {
  namespace: string;
  allNamespaces?: boolean;
  output: 'table' | 'json';
}

export const runStatus = (name: string | undefined, options: StatusOptions, io: Io): Promise<void> =>
  clusterCommand({
    options,
    io,
    load: (client) => knowing(client, () => readDrives(client, name, options)),
    report: (report) => report,
    text: (report, style) => (report.dataImages.length > 0 ? driveText(report, style) : noDataImage(name, options)),
  });

async function readDrives(client: Client, name: string | undefined, options: StatusOptions): Promise<DriveReport> {
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

function noDataImage(name: string | undefined, { namespace, allNamespaces = false }: StatusOptions): string {
  if (name !== undefined) return `${safeText(`BareMetalHost ${name} has no DataImage`)}.\n`;
  if (allNamespaces) return 'The cluster has no DataImage.\n';
  return `${safeText(`Namespace ${namespace}`)} has no DataImage. --all-namespaces looks everywhere.\n`;
}

export function driveText({ dataImages }: DriveReport, { paint = plain, width }: Partial<TextStyle> = {}): string {
  const rows = dataImages.map((entry): Cell[] => [
    entry.namespace,
    entry.name,
    stateCell(entry),
    powerCell(entry.host),
    entry.attached ?? '-',
    entry.url,
  ]);
  const sentences = dataImages
    .flatMap(formatNotes)
    .flatMap((line) => wrapText(safeLine(line), width))
    .map((line) => `${line}\n`);
  const shown = table(['NAMESPACE', 'HOST', 'STATE', 'POWER', 'IN THE DRIVE', 'WANTED'], rows, paint);
  return sentences.length === 0 ? shown : `${shown}\n${sentences.join('')}`;
}

const colours: Readonly<Partial<Record<DriveState, Colour>>> = {
  attached: 'green',
  attaching: 'cyan',
  detaching: 'cyan',
  'waits for a reboot': 'yellow',
  'not known': 'yellow',
  'host not ready': 'yellow',
  'not looked at': 'yellow',
  failed: 'red',
  'booted without it': 'red',
  unsupported: 'red',
};

function stateCell({ state, isDeleting }: DriveEntry): Cell {
  const text = isDeleting ? `${state}, to be detached` : state;
  const colour = colours[state];
  return colour === undefined ? text : { text, colour };
}

function powerCell(host: HostEntry | null): string {
  if (host === null) return 'no such host';
  const power = host.isOn ? 'on' : 'off';
  if (host.heldOffBy.length > 0) return `${power}, held off by ${host.heldOffBy.join(', ')}`;
  return host.rebootAsked ? `${power}, reboot asked for` : power;
}

/** What is as it shall be needs none. */
function formatNotes(entry: DriveEntry): string[] {
  const { namespace, name, state, host } = entry;
  const said = [
    ...(state === 'attached' && !entry.isDeleting ? [] : [formatReason(entry)]),
    ...(host?.isPaused
      ? ['the host is paused (annotation baremetalhost.metal3.io/paused): nothing happens to it']
      : []),
    ...(host?.error ? [`the host has an error: ${host.error}`] : []),
  ];
  return said.map((text) => `${namespace}/${name}: ${text}`);
}

export function formatReason({ message, state }: DriveEntry): string {
  if (message !== '') return message;
  return state === 'not looked at'
    ? 'no controller has said anything about it as it is now: slipway controller --ironic-url does; its log says more'
    : state;
}
