// The OS image streams of a cluster for people.
import { formatProblem } from '@slipway/fleet';
import type { PoolEntry, StreamEntry, StreamsReport } from '@slipway/fleet/reports';
import { shortImage } from '../terminal/image-name.ts';
import { type Paint, plain } from '../terminal/paint.ts';
import { safeText } from '../terminal/safe-text.ts';
import { type Cell, table } from '../terminal/table.ts';
import { wrapText } from '../terminal/wrap-text.ts';
import { lifecycleCell } from './lifecycle-cell.ts';

export interface StreamsTextOptions {
  readonly paint?: Paint;
  /** Of the terminal: sentences are broken between words. Left out: they are not broken. */
  readonly width?: number | undefined;
}

export function streamsText(report: StreamsReport, { paint = plain, width }: StreamsTextOptions = {}): string {
  const { streams } = report;
  const sentences = [
    ...(streams.length === 0 ? noStreams(report) : gateLines(report)),
    ...streams.flatMap(lifecycleLines),
    ...(report.gate?.isOn === false ? [] : report.pools.flatMap((pool) => poolLines(pool, report))),
  ];
  const told = sentences.flatMap((line) => wrapText(oneLine(line), width)).map((line) => `${line}\n`);
  const blocks = [
    ...(streams.length === 0 ? [] : [streamTable(streams, paint)]),
    ...(told.length === 0 ? [] : [told.join('')]),
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

/** Only a stream that somebody is on is worth a sentence. */
function lifecycleLines({ name, lifecycle, pools }: StreamEntry): string[] {
  if (lifecycle === null || pools.length === 0) return [];
  const { state, successor, message } = lifecycle;
  const meaning =
    state === 'blocked'
      ? `Stream ${name} is blocked: the platform cannot be upgraded while pools are on it.`
      : `Stream ${name} is deprecated.`;
  const said = message === null ? '' : ` ${message.replace(/\.?$/, '.')}`;
  const to = successor ?? 'STREAM';
  return [`${meaning}${said} Migrate: ${pools.map((pool) => `slipway streams migrate ${pool} ${to}`).join('; ')}`];
}

function poolLines(pool: PoolEntry, report: StreamsReport): string[] {
  return [...stateLines(pool, report), ...pool.problems.map(formatProblem)];
}

function stateLines(pool: PoolEntry, { streams }: StreamsReport): string[] {
  const { name, state, stream, asked, reached, keeps } = pool;
  const image = keeps === null ? 'the OS it has' : shortImage(keeps);
  const migrate = `slipway streams migrate ${name} STREAM`;
  switch (state) {
    case 'removed':
      return [
        `Pool ${name}: frozen at ${image}: its stream ${stream} is no longer in the payload, so its OS gets no updates. Move it to another: ${migrate}`,
      ];
    case 'unknown':
      return [
        `Pool ${name}: frozen at ${image}: its OS came before streams, and nothing tells which stream it is. Say which one: ${migrate}`,
      ];
    case 'not yet decided':
      return streams.length === 0 ? [] : [`Pool ${name}: the controllers have not put it on a stream yet`];
    case 'on stream':
      return reached === null || reached === stream || asked === null
        ? []
        : [`Pool ${name}: on its way from ${reached} to ${stream}: slipway status ${name}`];
  }
}

const gateLines = ({ gate }: StreamsReport): string[] =>
  gate?.isOn === false ? [`OS image streams are off (${gate.because}): no pool follows them. ${turnOn(gate)}`] : [];

function noStreams({ gate }: StreamsReport): string[] {
  if (gate?.isOn === false) {
    return [
      `OS image streams are off (${gate.because}): every pool has the OS image of ConfigMap machine-config-osimageurl or of its MachineConfigs. ${turnOn(gate)}`,
    ];
  }
  if (gate === null) {
    return [
      `This cluster has no OSImageStream: the feature gate OSStreams is off, or no controller runs. ${turnOn(gate)}`,
    ];
  }
  return [
    'This cluster has no OSImageStream yet, though OSStreams is on: no source of OS images could be read, or no controller runs. The log of slipway controller and condition Degraded of ClusterOperator machine-config say which; sources are the release image (ClusterVersion version, or slipway controller --release-image), ConfigMap machine-config-osimageurl, and slipway controller --os-image with --os-extensions-image.',
  ];
}

const turnOn = (gate: StreamsReport['gate']): string =>
  gate === null
    ? 'Start the controllers with slipway controller --feature-gates OSStreams=true.'
    : 'To turn them on, add OSStreams to spec.customNoUpgrade.enabled of FeatureGate cluster.';

const oneLine = (text: string): string => safeText(text).replaceAll(/\s*\n\s*/g, ' ');
