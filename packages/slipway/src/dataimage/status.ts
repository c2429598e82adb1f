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
  if (allNamespaces) return 'The cluster has no DataImages.\n';
  return `${safeText(`Namespace ${namespace}`)} has no DataImages. To show those of all namespaces, add --all-namespaces.\n`;
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
  const shown = table(['NAMESPACE', 'HOST', 'STATE', 'POWER', 'ATTACHED', 'DESIRED'], rows, paint);
  return sentences.length === 0 ? shown : `${shown}\n${sentences.join('')}`;
}

/** Part of `-o json`, so the table shows the same words. */
const NOT_OBSERVED = 'not looked at' satisfies DriveState;

const colours: Readonly<Partial<Record<DriveState, Colour>>> = {
  attached: 'green',
  attaching: 'cyan',
  detaching: 'cyan',
  'waits for a reboot': 'yellow',
  'not known': 'yellow',
  'host not ready': 'yellow',
  [NOT_OBSERVED]: 'yellow',
  failed: 'red',
  'booted without it': 'red',
  unsupported: 'red',
};

function stateCell({ state, isDeleting }: DriveEntry): Cell {
  const text = isDeleting ? `${state}, detaching` : state;
  const colour = colours[state];
  return colour === undefined ? text : { text, colour };
}

function powerCell(host: HostEntry | null): string {
  if (host === null) return 'no such host';
  const power = host.isOn ? 'on' : 'off';
  if (host.heldOffBy.length > 0) return `${power}, held off by ${host.heldOffBy.join(', ')}`;
  return host.rebootAsked ? `${power}, reboot requested` : power;
}

/** An ISO in its desired state needs no note. */
function formatNotes(entry: DriveEntry): string[] {
  const { namespace, name, state, host } = entry;
  const notes = [
    ...(state === 'attached' && !entry.isDeleting ? [] : [formatReason(entry)]),
    ...(host?.isPaused
      ? ['the host is paused; to continue, remove its annotation baremetalhost.metal3.io/paused']
      : []),
    ...(host?.error ? [`the host has an error: ${host.error}`] : []),
  ];
  return notes.map((text) => `${namespace}/${name}: ${text}`);
}

export function formatReason({ message, state }: DriveEntry): string {
  if (message !== '') return message;
  return state === NOT_OBSERVED
    ? 'no controller has reported its current state. Run slipway controller with --ironic-url, or check its log'
    : state;
}
