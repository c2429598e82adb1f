import { readSources } from '@slipway/controllers';
import { ProblemList } from '@slipway/fleet';
import { discoverStreams, type StreamSources } from '@slipway/fleet/stream-discovery';
import type { InspectedImage, Registry } from '@slipway/registry';
import { type Progress, silentProgress, terminalProgress } from '@slipway/tools/controlplane';
import { CommandError } from '../cli/errors.ts';
import { type Io, readSmallFile, toJson, write } from '../cli/io.ts';
import type { RegistryFlags } from '../cli/options.ts';
import { openRegistry } from '../cli/registry.ts';
import { tellProblems } from '../cli/run.ts';
import { isTerminal, paintFor, widthOf } from '../cli/terminal.ts';
import { type InspectReport, inspectReport } from './inspect-report.ts';
import { inspectText } from './inspect-text.ts';

export interface InspectOptions extends RegistryFlags {
  imageReferences?: string;
  output: 'text' | 'json';
}

export const runInspect = (image: string | undefined, options: InspectOptions, io: Io): Promise<void> =>
  tellProblems(io, async () => {
    const release = await releaseOf(image, options);
    const registry = await openRegistry(options);
    const progress = isTerminal(io.stderr) ? terminalProgress() : silentProgress;
    let report: InspectReport;
    try {
      report = await inspectRelease(image ?? options.imageReferences ?? '', release, registry, progress);
    } finally {
      progress.clear();
      await registry.close();
    }
    const text =
      options.output === 'json'
        ? toJson(report)
        : inspectText(report, { paint: paintFor(io.stdout), width: widthOf(io.stdout) });
    await write(io.stdout, text);
  });

async function releaseOf(
  image: string | undefined,
  { imageReferences }: InspectOptions,
): Promise<NonNullable<StreamSources['release']>> {
  if ((image === undefined) === (imageReferences === undefined)) {
    throw new CommandError(
      'SLW_CLI_USAGE',
      'slipway streams inspect: expected either a RELEASE_IMAGE or --image-references FILE',
    );
  }
  if (imageReferences === undefined) return { image: image ?? '' };
  return { imageReferences: await readSmallFile('--image-references', imageReferences) };
}

/** What a cluster of this release would find, were there no other source. */
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
      registry: {
        async inspect(reference, options) {
          const image = await registry.inspect(reference, options);
          images.set(image.reference, image);
          progress.update(`asks for OS images: ${images.size}`);
          return image;
        },
        readFile(reference, path, options) {
          progress.update(`reads ${path} out of ${reference}`);
          return registry.readFile(reference, path, options);
        },
      },
    },
  );
  const failed = readings.flatMap((reading) => (reading.ok ? [] : [reading.problem]));
  if (failed.length > 0) throw ProblemList.of('SLW_STREAM_SOURCE_FAILED', failed);
  return inspectReport(name, discoverStreams(readings), images);
}
