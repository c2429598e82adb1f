// The OS images that render gives a pool: those of its stream, or where there are no streams those of the fleet.
import { isSameStream, type MachineConfigPool } from '@slipway/api';
import type { CodedProblem } from '../problems.ts';
import type { OSImages, RenderImages } from '../render/machine-settings.ts';
import type { PoolStream, StreamImages, Streams, TrackedStream } from './available.ts';
import { followsWorker } from './default-stream.ts';
import { streamOfPool, trackedBy, readTrackedStream } from './pool-stream.ts';

/** What the OS of pools is decided on. */
export interface PlatformImages {
  readonly pools: readonly MachineConfigPool[];
  /** For all pools, where there are no streams. */
  readonly osImages: OSImages;
  /** Null: pools follow no streams. */
  readonly streams: Streams | null;
  /** What the machines of pools run that are on no stream yet, by pool. One that is not there is new. */
  readonly running?: ReadonlyMap<string, RunningOs> | undefined;
}

export interface RunningOs {
  readonly stream: string | null;
  readonly images: StreamImages | null;
}

export interface PoolImages extends RenderImages {
  /** Null: there are no streams to decide on. */
  readonly decided: PoolStream | null;
  /** Why the pool does not get what its owner asks for: then nothing new is rendered. */
  readonly problems: readonly CodedProblem[];
}

export function osImagesOfPool(pool: MachineConfigPool, platform: PlatformImages): PoolImages {
  const { streams } = platform;
  if (streams === null) return { osImages: platform.osImages, osStream: null, decided: null, problems: [] };
  const decided = decidedStream(pool, streams, platform);
  return { ...imagesOnStream(pool, trackedBy(decided)), decided, problems: listProblems(decided, pool) };
}

/** `at`: the stream that the pool is on; null: none. One that asks for a stream that it did not get has not asked for this one. */
export function imagesOnStream({ spec }: MachineConfigPool, at: TrackedStream | null): RenderImages {
  const asked = spec.osImageStream?.name;
  const name = at?.name ?? null;
  return {
    osImages: toOSImages(at?.images ?? null),
    osStream: name === null ? null : { name, isAsked: asked !== undefined && isSameStream(asked, name) },
  };
}

/** Of all pools, where there are no streams: what flags say goes before the ConfigMap. */
export function clusterImages(data: Readonly<Record<string, string>> | undefined, flags: OSImages = {}): OSImages {
  const { baseOSContainerImage: osImage, baseOSExtensionsContainerImage: osExtensionsImage } = data ?? {};
  return { ...namedImages({ osImage, osExtensionsImage }), ...flags };
}

interface NamedImages {
  readonly osImage?: string | undefined;
  readonly osExtensionsImage?: string | undefined;
}

/** As flags and streams call them, by the names that a MachineConfig has for them. */
export const namedImages = ({ osImage, osExtensionsImage }: NamedImages): OSImages => ({
  ...(osImage !== undefined && { osImageURL: osImage }),
  ...(osExtensionsImage !== undefined && { baseOSExtensionsContainerImage: osExtensionsImage }),
});

function listProblems(decided: PoolStream, { metadata }: MachineConfigPool): CodedProblem[] {
  if (decided.type === 'refused') return [decided.problem];
  if (decided.type !== 'waits') return [];
  const message = `MachineConfigPool ${metadata.name}: it has the OS of the pool worker, of which no stream is known. Give the manifest of worker too, or set spec.osImageStream`;
  return [{ code: 'SLW_CLI_STREAM', message }];
}

/** As the controllers would decide it. */
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

/** An OS from before streams may have come without extensions: '' then. */
function toOSImages(images: StreamImages | null): OSImages {
  if (images === null) return {};
  const { osImage, osExtensionsImage } = images;
  return namedImages({ osImage, ...(osExtensionsImage !== '' && { osExtensionsImage }) });
}
