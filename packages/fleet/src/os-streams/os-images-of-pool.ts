// The OS images that render gives a pool: those of its stream, or where there are no streams those of the fleet.
import { isSameStream, type MachineConfigPool } from '@slipway/api';
import type { CodedProblem } from '../problems.ts';
import type { OSImages, OSStream } from '../render/machine-settings.ts';
import type { PoolStream, StreamImages, Streams, TrackedStream } from './facts.ts';
import { followsWorker } from './follows-worker.ts';
import { streamOfPool, trackedBy } from './pool-stream.ts';
import { trackedOf } from './tracked.ts';

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

export interface PoolImages {
  readonly osImages: OSImages;
  /** Null: it follows none. */
  readonly osStream: OSStream | null;
  /** Null: there are no streams to decide on. */
  readonly decided: PoolStream | null;
  /** Why the pool does not get what its owner asks for: then nothing new is rendered. */
  readonly problems: readonly CodedProblem[];
}

export function osImagesOfPool(pool: MachineConfigPool, platform: PlatformImages): PoolImages {
  const { streams } = platform;
  if (streams === null) return { osImages: platform.osImages, osStream: null, decided: null, problems: [] };
  const decided = decidedStream(pool, streams, platform);
  const at = trackedBy(decided);
  const asked = pool.spec.osImageStream?.name;
  return {
    osImages: at === null || at.images === null ? {} : imagesOf(at.images),
    osStream:
      at === null || at.name === null
        ? null
        : { name: at.name, isAsked: asked !== undefined && isSameStream(asked, at.name) },
    decided,
    problems: problemsOf(decided, pool),
  };
}

function problemsOf(decided: PoolStream, { metadata }: MachineConfigPool): CodedProblem[] {
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
      tracked: trackedOf(pool.metadata.annotations),
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
const imagesOf = ({ osImage, osExtensionsImage }: StreamImages): OSImages => ({
  osImageURL: osImage,
  ...(osExtensionsImage !== '' && { baseOSExtensionsContainerImage: osExtensionsImage }),
});
