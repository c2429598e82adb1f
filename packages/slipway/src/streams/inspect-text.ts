// The OS image streams of a release for people.
import { formatProblem } from '@slipway/fleet';
import { byteSize } from '../terminal/byte-size.ts';
import { type Paint, plain } from '../terminal/paint.ts';
import { safeText } from '../terminal/safe-text.ts';
import { type Cell, table } from '../terminal/table.ts';
import { wrapText } from '../terminal/wrap-text.ts';
import type { InspectedStream, InspectReport } from './inspect-report.ts';
import { lifecycleCell } from './lifecycle-cell.ts';

export interface InspectTextOptions {
  readonly paint?: Paint;
  /** Of the terminal: sentences are broken between words. Left out: they are not broken. */
  readonly width?: number | undefined;
}

export function inspectText(report: InspectReport, { paint = plain, width }: InspectTextOptions = {}): string {
  const { release, version, streams, notes, problems } = report;
  const lines = [
    ...(streams.length === 0 ? ['It has no OS image stream: a cluster of this release offers its pools none.'] : []),
    ...streams.flatMap(messageLines),
    ...[...problems, ...notes].map(formatProblem),
  ];
  const blocks = [
    `${oneLine(release)}: version ${oneLine(version ?? 'not said')}\n`,
    ...(streams.length === 0 ? [] : [streamTable(streams, paint), imageTable(streams, paint)]),
    ...(lines.length === 0
      ? []
      : [
          lines
            .flatMap((line) => wrapText(oneLine(line), width))
            .join('\n')
            .concat('\n'),
        ]),
  ];
  return blocks.join('\n');
}

const streamTable = (streams: readonly InspectedStream[], paint: Paint): string =>
  table(
    ['STREAM', 'DEFAULT', 'LIFECYCLE', 'OS VERSION', 'OS IMAGE', 'EXTENSIONS'],
    streams.map((stream): Cell[] => [
      stream.name,
      stream.isDefault ? 'yes' : '-',
      lifecycleCell(stream.lifecycle),
      stream.os.version ?? '-',
      byteSize(stream.os.bytes),
      byteSize(stream.extensions.bytes),
    ]),
    paint,
  );

/** Whole, since they are here to be copied. */
const imageTable = (streams: readonly InspectedStream[], paint: Paint): string =>
  table(
    ['STREAM', 'ROLE', 'IMAGE'],
    streams.flatMap(({ name, os, extensions }): Cell[][] => [
      [name, 'os', os.image],
      [name, 'extensions', extensions.image],
    ]),
    paint,
  );

const messageLines = ({ name, lifecycle }: InspectedStream): string[] =>
  lifecycle === null || lifecycle.message === null ? [] : [`${name}: ${lifecycle.message}`];

const oneLine = (text: string): string => safeText(text).replaceAll(/\s*\n\s*/g, ' ');
