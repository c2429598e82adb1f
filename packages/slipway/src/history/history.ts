import { machineConfigs, poolLabel } from '@slipway/api';
import { readPoolFacts } from '@slipway/fleet';
import {
  type Changes,
  type ConfigEntry,
  type HistoryReport,
  historyReport,
  newestFirst,
  type RecordedConfig,
  toRecordedConfig,
  type RolloutEntry,
} from '@slipway/fleet/reports';
import { formatDiff, type ItemDiff } from '@slipway/ignition';
import type { Client } from '@slipway/kube';
import { readPool } from '../cli/cluster.ts';
import type { Io } from '../cli/io.ts';
import type { ClusterOptions } from '../cli/program.ts';
import { clusterCommand } from '../cli/run.ts';
import {
  type Colour,
  durationText,
  type Paint,
  plain,
  safeLine,
  shortConfig,
  shortConfigs,
  table,
} from '../cli/terminal.ts';

export interface HistoryOptions extends ClusterOptions {
  output: 'text' | 'json';
  showSecrets?: boolean;
}

export const runHistory = (name: string, options: HistoryOptions, io: Io): Promise<void> =>
  clusterCommand({
    options,
    io,
    load: async (client) => ({ pool: await readPool(client, name), rendered: await readRendered(client, name) }),
    report: ({ pool, rendered }) => {
      const { pool: facts, history } = readPoolFacts(pool);
      const { held, newest, state } = facts;
      return historyReport(
        { pool: name, target: held ?? newest, state, history, rendered },
        { showSecrets: options.showSecrets ?? false },
      );
    },
    text: (report, { paint }) => historyText(report, paint),
  });

/** A rendered config may be larger than a megabyte. */
const PAGE_SIZE = 10;

/** Newest first. */
async function readRendered(client: Client, pool: string): Promise<RecordedConfig[]> {
  const found: RecordedConfig[] = [];
  const which = { labelSelector: `${poolLabel}=${pool}`, pageSize: PAGE_SIZE };
  for await (const object of client.list(machineConfigs, which)) found.push(toRecordedConfig(object));
  return found.sort(newestFirst);
}

/** `slipway diff` shows the rest of a long diff. */
const MAX_DIFF_LINES = 30;

const MAX_ITEMS = 3;

const OUTCOME_COLOURS: Readonly<Record<RolloutEntry['outcome'], Colour>> = {
  completed: 'green',
  'under way': 'cyan',
  superseded: 'dim',
  cancelled: 'yellow',
  returned: 'red',
  'rolled back': 'yellow',
};

const MARKS = { added: '+', removed: '-', changed: '~' } as const;

export function historyText({ pool, rollouts, configs }: HistoryReport, paint: Paint = plain): string {
  const none = `Pool ${pool} has had no rollouts yet.\n`;
  return [
    rollouts.length === 0 ? none : `${paint('bold', `Rollouts of pool ${pool}`)}, newest first\n`,
    ...rollouts.map((entry) => rolloutText(entry, paint)),
    `${paint('bold', 'Rendered configs')}, newest first\n${configTable(configs, paint)}`,
  ].join('\n');
}

function rolloutText(entry: RolloutEntry, paint: Paint): string {
  const { config, from, outcome, startedAt, seconds, nodes, capacity, why } = entry;
  const head = [
    `${paint(OUTCOME_COLOURS[outcome], outcome)}${seconds === null ? '' : ` in ${durationText(seconds)}`}`,
    nodes === 1 ? '1 node' : `${nodes} nodes`,
    ...(capacity === null ? [] : [`${capacity} at a time`]),
  ].join(', ');
  const lines = [
    from === null ? shortConfig(config) : `${shortConfig(from)} → ${shortConfig(config)}`,
    ...(why === '' ? [] : [shortConfigs(safeLine(why))]),
    ...changeLines(entry),
  ];
  return `${timeText(startedAt)}  ${head}\n${lines.map((line) => (line === '' ? '\n' : `  ${line}\n`)).join('')}`;
}

function changeLines({ changes, config, from }: RolloutEntry): string[] {
  if (from === null) return [];
  if (changes === null) return ['changes unknown: one of the two rendered configs no longer exists'];
  const sources = sourcesText(changes);
  const { items } = changes;
  if (items === null) return [sources, 'the two rendered configs cannot be compared'];
  const lines = formatDiff(items).trimEnd().split('\n');
  const shown = lines.slice(0, MAX_DIFF_LINES);
  const more = lines.length - shown.length;
  return [
    sources,
    ...shown.map((line) => (line === '' ? '' : `  ${line}`)),
    ...(more > 0 ? [`  … ${more} more lines: slipway diff ${from} ${config}`] : []),
  ];
}

function sourcesText({ machineConfigs }: Changes): string {
  if (machineConfigs === null) return 'MachineConfigs: not recorded';
  if (machineConfigs.length === 0) return 'MachineConfigs: unchanged';
  return `MachineConfigs: ${machineConfigs.map(({ name, change }) => `${MARKS[change]} ${name}`).join(', ')}`;
}

function configTable(configs: readonly ConfigEntry[], paint: Paint): string {
  if (configs.length === 0) return 'none\n';
  return table(
    ['CONFIG', 'RENDERED', 'USE', 'CHANGES SINCE THE PREVIOUS ONE'],
    configs.map(({ name, renderedAt, isTarget, isInUse, changes }) => [
      shortConfig(name),
      timeText(renderedAt),
      isTarget ? { text: 'target', colour: 'green' } : isInUse ? 'in use' : '-',
      changes === null ? '-' : shortChanges(changes),
    ]),
    paint,
  );
}

function shortChanges({ machineConfigs, items }: Changes): string {
  const sources = (machineConfigs ?? []).map(({ name, change }) => `${MARKS[change]} ${name}`);
  const things = (items ?? []).map(itemTitle);
  const more = things.length - MAX_ITEMS;
  const shown = [...things.slice(0, MAX_ITEMS), ...(more > 0 ? [`${more} more`] : [])].join(', ') || 'no difference';
  return sources.length === 0 ? shown : `${sources.join(', ')}: ${shown}`;
}

const itemTitle = ({ noun, name, change }: ItemDiff): string =>
  `${MARKS[change]} ${noun}${name === '' ? '' : ` ${name}`}`;

/** In UTC, like the API. */
const timeText = (at: string): string => (at === '' ? '-' : at.replace('T', ' ').replace(/(?:\.\d+)?Z$/, 'Z'));
