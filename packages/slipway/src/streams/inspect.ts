import {
  type CodedProblem,
  selectDefaultStream,
  formatProblem,
  ProblemList,
  type StreamLifecycle,
} from '@slipway/fleet';
import {
  discoverStreams,
  type Discovery,
  readSources,
  type StreamNote,
  type StreamSources,
} from '@slipway/fleet/stream-discovery';
import { type InspectedImage, isRegistryError, type Registry } from '@slipway/registry';
import { type Progress, silentProgress, terminalProgress } from '@slipway/tools/controlplane';
import { CommandError } from '../cli/errors.ts';
import { type Io, readSmallFile, toJson, write } from '../cli/io.ts';
import type { RegistryFlags } from '../cli/options.ts';
import { openRegistry } from '../cli/registry.ts';
import { reportProblems } from '../cli/run.ts';
import {
  byteSize,
  type Cell,
  isTerminal,
  type Paint,
  plain,
  safeLine,
  styleFor,
  table,
  type TextStyle,
  wrapText,
} from '../cli/terminal.ts';
import { lifecycleCell } from './streams.ts';

export interface InspectOptions extends RegistryFlags {
  imageReferences?: string;
  output: 'text' | 'json';
}

export const runInspect = (image: string | undefined, options: InspectOptions, io: Io): Promise<void> =>
  reportProblems(io, async () => {
    const release = await readRelease(image, options);
    const registry = await openRegistry(options);
    const progress = isTerminal(io.stderr) ? terminalProgress() : silentProgress;
    let report: InspectReport;
    try {
      report = await inspectRelease(image ?? options.imageReferences ?? '', release, registry, progress);
    } finally {
      progress.clear();
      await registry.close();
    }
    const text = options.output === 'json' ? toJson(report) : inspectText(report, styleFor(io.stdout));
    await write(io.stdout, text);
  });

async function readRelease(
  image: string | undefined,
  { imageReferences }: InspectOptions,
): Promise<NonNullable<StreamSources['release']>> {
  if ((image === undefined) === (imageReferences === undefined)) {
    throw new CommandError(
      'SLW_CLI_USAGE',
      `slipway streams inspect: expected either RELEASE_IMAGE or --image-references FILE, found ${image === undefined ? 'neither' : 'both'}`,
    );
  }
  if (imageReferences === undefined) return { image: image ?? '' };
  return { imageReferences: await readSmallFile('--image-references', imageReferences) };
}

/** What a cluster of this release would discover without other sources. */
async function inspectRelease(
  name: string,
  release: NonNullable<StreamSources['release']>,
  registry: Registry,
  progress: Progress,
): Promise<InspectReport> {
  const images = new Map<string, InspectedImage>();
  const readings = await readSources(
    { commandLine: null, configMap: null, release },
    {
      isRegistryError,
      registry: {
        async inspect(reference, options) {
          const image = await registry.inspect(reference, options);
          images.set(image.reference, image);
          progress.update(`reading OS images: ${images.size}`);
          return image;
        },
        readFile(reference, path, options) {
          progress.update(`reading ${path} from ${reference}`);
          return registry.readFile(reference, path, options);
        },
      },
    },
  );
  const failed = readings.flatMap((reading) => (reading.ok ? [] : [reading.problem]));
  if (failed.length > 0) throw ProblemList.of('SLW_STREAM_SOURCE_FAILED', failed);
  return inspectReport(name, discoverStreams(readings), images);
}

/** The OS image streams of a release. `-o json` prints exactly this. */
export interface InspectReport {
  /** The inspected release. */
  readonly release: string;
  /** Version of the platform; null: the release does not specify it. */
  readonly version: string | null;
  /** The stream of a new pool in a new cluster; null: `problems` explains why there is none. */
  readonly defaultStream: string | null;
  /** Sorted by name. */
  readonly streams: readonly InspectedStream[];
  /** What was left out and why. */
  readonly notes: readonly StreamNote[];
  /** Problems that a cluster of this release would report. */
  readonly problems: readonly CodedProblem[];
}

interface InspectedStream {
  readonly name: string;
  readonly isDefault: boolean;
  /** Null: it is supported. */
  readonly lifecycle: StreamLifecycle | null;
  readonly os: StreamImage;
  readonly extensions: StreamImage;
}

interface StreamImage {
  /** By digest. */
  readonly image: string;
  /** From its labels; null: they have none. */
  readonly version: string | null;
  /** Compressed, as transferred. */
  readonly bytes: number;
}

/** `images` by reference: every image of the discovered streams. */
export function inspectReport(
  release: string,
  { found, notes, version }: Discovery,
  images: ReadonlyMap<string, Pick<InspectedImage, 'labels' | 'size'>>,
): InspectReport {
  const available = found.map(({ stream }) => stream);
  const chosen = available.length === 0 ? null : selectDefaultStream({ version, available, override: null });
  const defaultStream = chosen?.ok === true ? chosen.name : null;
  const toStreamImage = (image: string): StreamImage => {
    const { labels = {}, size = 0 } = images.get(image) ?? {};
    return { image, version: labels['org.opencontainers.image.version'] ?? labels['version'] ?? null, bytes: size };
  };
  return {
    release,
    version,
    defaultStream,
    streams: found.map(({ stream, lifecycle }) => ({
      name: stream.name,
      isDefault: stream.name === defaultStream,
      lifecycle,
      os: toStreamImage(stream.osImage),
      extensions: toStreamImage(stream.osExtensionsImage),
    })),
    notes,
    problems: chosen?.ok === false ? [chosen.problem] : [],
  };
}

export function inspectText(report: InspectReport, { paint = plain, width }: Partial<TextStyle> = {}): string {
  const { release, version, streams, notes, problems } = report;
  const lines = [
    ...(streams.length === 0
      ? ['This release has no OS image streams, so a cluster of this release offers none to its pools.']
      : []),
    ...streams.flatMap(messageLines),
    ...[...problems, ...notes].map(formatProblem),
  ];
  const blocks = [
    `${safeLine(release)}: version ${safeLine(version ?? 'unknown')}\n`,
    ...(streams.length === 0 ? [] : [streamTable(streams, paint), imageTable(streams, paint)]),
    ...(lines.length === 0
      ? []
      : [
          lines
            .flatMap((line) => wrapText(safeLine(line), width))
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

/** In full, so that users can copy them. */
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
