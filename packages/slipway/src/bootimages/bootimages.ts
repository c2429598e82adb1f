import { formatProblem } from '@slipway/fleet';
import { resourceWords, type ToImport } from '@slipway/fleet/boot-images';
import { type BootImageEntry, type BootImagesReport, bootImagesReport, explainCanaries } from '@slipway/fleet/reports';
import type { Client } from '@slipway/kube';
import { readGate, whereInstalled } from '../cli/cluster.ts';
import type { Io } from '../cli/io.ts';
import type { ClusterOptions } from '../cli/program.ts';
import { clusterCommand } from '../cli/run.ts';
import {
  type Cell,
  type Colour,
  type Paint,
  plain,
  safeLine,
  safeText,
  table,
  type TextStyle,
  wrapText,
} from '../cli/terminal.ts';
import { type MachineNamespaces, readMachines } from './machine-resources.ts';
import { readCluster } from './read-cluster.ts';
import { readVerdicts } from './verdicts.ts';

export interface BootImagesOptions extends ClusterOptions, MachineNamespaces {
  namespace: string;
  output: 'table' | 'json';
}

export const runBootImages = (options: BootImagesOptions, io: Io): Promise<void> =>
  clusterCommand({
    options,
    io,
    load: (client) => whereInstalled(client, () => readReport(client, options)),
    report: (report) => report,
    text: bootImagesText,
  });

async function readReport(client: Client, options: BootImagesOptions): Promise<BootImagesReport> {
  const cluster = await readCluster(client, options.namespace);
  const machines = await readMachines(client, options);
  const canaries = machines.canaries.map(({ metadata: { name, ownerReferences } }) => ({
    name,
    of: ownerReferences?.[0]?.name ?? '',
  }));
  const entries = explainCanaries(await readVerdicts(client, machines, cluster), canaries);
  return bootImagesReport(await readGate(client, 'ManagedBootImages'), cluster.facts, entries);
}

export const COLOURS: Readonly<Record<BootImageEntry['verdict'], Colour>> = {
  current: 'green',
  update: 'cyan',
  manual: 'yellow',
  theirs: 'dim',
  skipped: 'dim',
  failed: 'red',
};

export function bootImagesText(report: BootImagesReport, { paint = plain, width }: Partial<TextStyle> = {}): string {
  const { resources } = report;
  const lines = [...stateLines(report), ...report.notes].flatMap((line) => wrapText(safeLine(line), width));
  return [
    ...(resources.length === 0 ? [] : [resourceTable(resources, paint)]),
    ...(lines.length === 0 ? [] : [lines.map((line) => `${line}\n`).join('')]),
    ...importBlocks(resources, paint),
  ].join('\n');
}

function resourceTable(resources: readonly BootImageEntry[], paint: Paint): string {
  return table(
    ['MACHINESET', 'PLATFORM', 'ARCH', 'IMAGE', '→ TARGET', 'STUB', 'VERDICT', 'WHY'],
    resources.map((entry): Cell[] => [
      resourceCell(entry),
      entry.platform ?? '-',
      entry.architecture ?? '-',
      shortBootImage(entry.image) || '-',
      entry.target === entry.image ? '-' : shortBootImage(entry.target) || '-',
      change(entry.stub.current, entry.stub.wanted),
      { text: entry.verdict, colour: COLOURS[entry.verdict] },
      formatReason(entry),
    ]),
    paint,
  );
}

export function resourceCell({ resource: { namespace, name, api, kind } }: BootImageEntry): string {
  const word = api === 'machine.openshift.io' ? 'mapi' : 'capi';
  return `${namespace}/${name} (${kind === 'MachineSet' ? word : `${word}, ${kind}`})`;
}

const change = (from: string, to: string): string => {
  if (to === '' || to === from) return from === '' ? '-' : from;
  return `${from === '' ? '-' : from} → ${to}`;
};

export const formatReason = ({ why: words, code }: BootImageEntry): string => {
  if (code === null) return words === '' ? '-' : words;
  return formatProblem({ code, message: words });
};

/** What applies to all resources, such as the feature gate. */
const stateLines = (report: BootImagesReport): string[] => [
  ...gateLines(report),
  ...optInLines(report),
  ...configMapLines(report),
  ...(report.resources.length === 0
    ? [
        'This cluster has no MachineSets or MachineDeployments. docs/boot-images.md explains how to update boot images without them.',
      ]
    : []),
];

function gateLines({ gate }: BootImagesReport): string[] {
  if (gate === null) {
    return [
      'This cluster has no FeatureGate, so the flags of its controllers decide whether boot images are managed (slipway controller --feature-gates ManagedBootImages=true). The table assumes that the gate is on.',
    ];
  }
  if (gate.isOn) return [];
  return [
    `Managed boot images are off (${gate.because}), so nothing changes. The table shows what would change. To turn them on, add ManagedBootImages to spec.customNoUpgrade.enabled of FeatureGate cluster.`,
  ];
}

const optInLines = ({ optedIn }: BootImagesReport): string[] =>
  optedIn.some(({ selection }) => selection.mode !== 'None')
    ? []
    : [
        'Nothing is opted in. To opt in, set spec.managedBootImages.machineManagers of MachineConfiguration cluster (see docs/boot-images.md).',
      ];

function configMapLines({ configMap: { state, releaseVersion, why: words } }: BootImagesReport): string[] {
  if (state === 'in use') return [`Boot images of release ${releaseVersion ?? 'unknown'}.`];
  return [state === 'waiting' ? `Not yet: ${words}.` : words];
}

/** MachineSets of a failure domain mostly need the same import, so it is printed once. */
function importBlocks(resources: readonly BootImageEntry[], paint: Paint): string[] {
  const blocks = new Map<string, { toImport: ToImport; entries: BootImageEntry[] }>();
  for (const entry of resources) {
    if (entry.toImport === null) continue;
    const { toImport } = entry;
    const key = JSON.stringify(toImport);
    const block = blocks.get(key) ?? { toImport, entries: [] };
    block.entries.push(entry);
    blocks.set(key, block);
  }
  return [...blocks.values()].map(({ toImport, entries }) => importText(toImport, entries, paint));
}

function importText({ artifact, commands }: ToImport, entries: readonly BootImageEntry[], paint: Paint): string {
  const { location, sha256, uncompressedSha256, version } = artifact;
  const lines = [
    `${paint('bold', `To import: version ${safeLine(version)}`)}, for ${entries.map(({ resource }) => resourceWords(resource)).join(', ')}`,
    `  ${location}`,
    `  sha256 ${sha256}`,
    ...(uncompressedSha256 === null ? [] : [`  uncompressed sha256 ${uncompressedSha256}`]),
    ...commands.flatMap((command) => command.split('\n').map((each) => `    ${each}`)),
  ];
  return lines.map((line) => `${safeText(line)}\n`).join('');
}

const MAX = 48;

/** Enough to distinguish two images: the part after the last slash, cut at the front because versions are at the end. */
export function shortBootImage(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1) || image;
  return name.length <= MAX ? name : `…${name.slice(1 - MAX)}`;
}
