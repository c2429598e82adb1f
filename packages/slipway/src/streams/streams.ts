import { machineConfigPools } from '@slipway/api';
import { formatProblem, type StreamLifecycle, toStreams } from '@slipway/fleet';
import { type PoolEntry, type StreamEntry, type StreamsReport, streamsReport } from '@slipway/fleet/reports';
import type { Client } from '@slipway/kube';
import { findOsImageStream, readGate, whereInstalled } from '../cli/cluster.ts';
import type { Io } from '../cli/io.ts';
import type { ClusterOptions } from '../cli/program.ts';
import { clusterCommand } from '../cli/run.ts';
import {
  type Cell,
  type Paint,
  plain,
  safeLine,
  shortImage,
  table,
  type TextStyle,
  wrapText,
} from '../cli/terminal.ts';

export interface StreamsOptions extends ClusterOptions {
  output: 'table' | 'json';
}

export const runStreams = (options: StreamsOptions, io: Io): Promise<void> =>
  clusterCommand({ options, io, load: readReport, report: (report) => report, text: streamsText });

const readReport = (client: Client): Promise<StreamsReport> =>
  whereInstalled(client, async () => {
    const pools = await Array.fromAsync(client.list(machineConfigPools));
    const found = await findOsImageStream(client);
    return streamsReport(found === undefined ? null : toStreams(found), pools, await readGate(client, 'OSStreams'));
  });

export function streamsText(report: StreamsReport, { paint = plain, width }: Partial<TextStyle> = {}): string {
  const { streams } = report;
  const sentences = [
    ...(streams.length === 0 ? noStreams(report) : gateLines(report)),
    ...streams.flatMap(lifecycleLines),
    ...(report.gate?.isOn === false ? [] : report.pools.flatMap((pool) => poolLines(pool, report))),
  ];
  const lines = sentences.flatMap((line) => wrapText(safeLine(line), width)).map((line) => `${line}\n`);
  const blocks = [
    ...(streams.length === 0 ? [] : [streamTable(streams, paint)]),
    ...(lines.length === 0 ? [] : [lines.join('')]),
  ];
  return blocks.join('\n');
}

function streamTable(streams: readonly StreamEntry[], paint: Paint): string {
  return table(
    ['STREAM', 'DEFAULT', 'LIFECYCLE', 'POOLS', 'OS IMAGE', 'EXTENSIONS'],
    streams.map((stream): Cell[] => [
      stream.name,
      stream.isDefault ? 'yes' : '-',
      lifecycleCell(stream.lifecycle),
      stream.pools.join(', ') || '-',
      shortImage(stream.osImage),
      shortImage(stream.osExtensionsImage),
    ]),
    paint,
  );
}

/** The lifecycle of a stream as a table cell. */
export function lifecycleCell(lifecycle: StreamLifecycle | null): Cell {
  if (lifecycle === null) return '-';
  const text = lifecycle.successor === null ? lifecycle.state : `${lifecycle.state}, then ${lifecycle.successor}`;
  return { text, colour: lifecycle.state === 'blocked' ? 'red' : 'yellow' };
}

/** Only streams with pools get a sentence. */
function lifecycleLines({ name, lifecycle, pools }: StreamEntry): string[] {
  if (lifecycle === null || pools.length === 0) return [];
  const { state, successor, message } = lifecycle;
  const meaning =
    state === 'blocked'
      ? `Stream ${name} is blocked: the platform cannot be upgraded while pools are on it.`
      : `Stream ${name} is deprecated.`;
  const detail = message === null ? '' : ` ${message.replace(/\.?$/, '.')}`;
  const to = successor ?? 'STREAM';
  return [`${meaning}${detail} Migrate: ${pools.map((pool) => `slipway streams migrate ${pool} ${to}`).join('; ')}`];
}

function poolLines(pool: PoolEntry, report: StreamsReport): string[] {
  return [...stateLines(pool, report), ...pool.problems.map(formatProblem)];
}

function stateLines(pool: PoolEntry, { streams }: StreamsReport): string[] {
  const { name, state, stream, asked, reached, keeps } = pool;
  const image = keeps === null ? 'its current OS' : shortImage(keeps);
  const migrate = `slipway streams migrate ${name} STREAM`;
  switch (state) {
    case 'removed':
      return [
        `Pool ${name}: frozen at ${image}: its stream ${stream} is no longer in the payload, so its OS gets no updates. Migrate it: ${migrate}`,
      ];
    case 'unknown':
      return [
        `Pool ${name}: frozen at ${image}: its OS predates streams, and its stream is unknown. Choose one: ${migrate}`,
      ];
    case 'not yet decided':
      return streams.length === 0 ? [] : [`Pool ${name}: the controllers have not assigned it a stream yet`];
    case 'on stream':
      return reached === null || reached === stream || asked === null
        ? []
        : [`Pool ${name}: migrating from ${reached} to ${stream}. Follow it with: slipway status ${name}`];
  }
}

const gateLines = ({ gate }: StreamsReport): string[] =>
  gate?.isOn === false ? [`OS image streams are off (${gate.because}), so no pool follows them. ${turnOn(gate)}`] : [];

function noStreams({ gate }: StreamsReport): string[] {
  if (gate?.isOn === false) {
    return [
      `OS image streams are off (${gate.because}), so every pool gets the OS image of ConfigMap machine-config-osimageurl or of its MachineConfigs. ${turnOn(gate)}`,
    ];
  }
  if (gate === null) {
    return [
      `This cluster has no OSImageStream: the feature gate OSStreams is off, or no controller is running. ${turnOn(gate)}`,
    ];
  }
  return [
    'This cluster has no OSImageStream yet, although OSStreams is on: no source of OS images could be read, or no controller is running. Check the log of slipway controller and the Degraded condition of ClusterOperator machine-config. Sources are the release image (ClusterVersion version, or slipway controller --release-image), ConfigMap machine-config-osimageurl, and slipway controller --os-image with --os-extensions-image.',
  ];
}

const turnOn = (gate: StreamsReport['gate']): string =>
  gate === null
    ? 'Start the controllers with slipway controller --feature-gates OSStreams=true.'
    : 'To turn them on, add OSStreams to spec.customNoUpgrade.enabled of FeatureGate cluster.';
