// The OS images that a pool is rendered with: those of its stream, or without streams those of the fleet.
import { isSameStream, type MachineConfigPool } from '@slipway/api';
import type { CodedProblem } from '../problems.ts';
import type { OSImages, RenderImages } from '../render/machine-settings.ts';
import type { PoolStream, StreamImages, Streams, TrackedStream } from './available.ts';
import { followsWorker } from './default-stream.ts';
import { streamOfPool, trackedBy, readTrackedStream } from './pool-stream.ts';

/** The input of the OS decision for pools. */
export interface PlatformImages {
  readonly pools: readonly MachineConfigPool[];
  /** For all pools, if there are no streams. */
  readonly osImages: OSImages;
  /** Null: pools follow no streams. */
  readonly streams: Streams | null;
  /** What the machines run in pools that have no stream yet, by pool. A pool without an entry is new. */
  readonly running?: ReadonlyMap<string, RunningOs> | undefined;
}

export interface RunningOs {
  readonly stream: string | null;
  readonly images: StreamImages | null;
}

export interface PoolImages extends RenderImages {
  /** Null: there are no streams. */
  readonly decided: PoolStream | null;
  /** Why the pool does not get the requested OS: then nothing new is rendered. */
  readonly problems: readonly CodedProblem[];
}

export function osImagesOfPool(pool: MachineConfigPool, platform: PlatformImages): PoolImages {
  const { streams } = platform;
  if (streams === null) return { osImages: platform.osImages, osStream: null, decided: null, problems: [] };
  const decided = decidedStream(pool, streams, platform);
  return { ...imagesOnStream(pool, trackedBy(decided)), decided, problems: listProblems(decided, pool) };
}

/** `at`: the current stream of the pool; null: none. A refused request is not a request for the current stream. */
export function imagesOnStream({ spec }: MachineConfigPool, at: TrackedStream | null): RenderImages {
  const asked = spec.osImageStream?.name;
  const name = at?.name ?? null;
  return {
    osImages: toOSImages(at?.images ?? null),
    osStream: name === null ? null : { name, isAsked: asked !== undefined && isSameStream(asked, name) },
  };
}

/** For all pools, if there are no streams: flags override the ConfigMap. */
export function clusterImages(data: Readonly<Record<string, string>> | undefined, flags: OSImages = {}): OSImages {
  const { baseOSContainerImage: osImage, baseOSExtensionsContainerImage: osExtensionsImage } = data ?? {};
  return { ...namedImages({ osImage, osExtensionsImage }), ...flags };
}

interface NamedImages {
  readonly osImage?: string | undefined;
  readonly osExtensionsImage?: string | undefined;
}

/** Maps the names of flags and streams to the field names of a MachineConfig. */
export const namedImages = ({ osImage, osExtensionsImage }: NamedImages): OSImages => ({
  ...(osImage !== undefined && { osImageURL: osImage }),
  ...(osExtensionsImage !== undefined && { baseOSExtensionsContainerImage: osExtensionsImage }),
});

function listProblems(decided: PoolStream, { metadata }: MachineConfigPool): CodedProblem[] {
  if (decided.type === 'refused') return [decided.problem];
  if (decided.type !== 'waits') return [];
  const message = `MachineConfigPool ${metadata.name}: it follows the OS of pool worker, whose stream is unknown. Add the manifest of worker, or set spec.osImageStream`;
  return [{ code: 'SLW_CLI_STREAM', message }];
}

/** The decision that the controllers would make. */
export function decidedStream(pool: MachineConfigPool, streams: Streams, platform: PlatformImages): PoolStream {
  const { name } = pool.metadata;
  return streamOfPool(
    {
      pool: name,
      asked: pool.spec.osImageStream?.name ?? null,
      tracked: readTrackedStream(pool.metadata.annotations),
      worker: followsWorker(pool) ? workerStream(streams, platform) : undefined,
      runs: platform.running?.get(name) ?? null,
    },
    streams,
  );
}

function workerStream(streams: Streams, platform: PlatformImages): TrackedStream | null {
  const worker = platform.pools.find(({ metadata }) => metadata.name === 'worker');
  return worker === undefined ? null : trackedBy(decidedStream(worker, streams, platform));
}

/** An OS that predates streams may have no extensions: '' then. */
function toOSImages(images: StreamImages | null): OSImages {
  if (images === null) return {};
  const { osImage, osExtensionsImage } = images;
  return namedImages({ osImage, ...(osExtensionsImage !== '' && { osExtensionsImage }) });
}
