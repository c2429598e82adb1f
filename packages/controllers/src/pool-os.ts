// The OS images that a pool is rendered with: those of its stream, where streams are used, else those of the cluster.
import { configMaps, type MachineConfigPool, OS_IMAGES_CONFIG_MAP } from '@slipway/api';
import {
  clusterImages,
  imagesOnStream,
  type OSImages,
  type RenderImages,
  readTrackedStream,
  type TrackedStream,
} from '@slipway/fleet';
import { hasSources } from '@slipway/fleet/stream-discovery';
import type { Gates, StoreReader, Source } from '@slipway/kube';
import { usesStreams } from './feature-gates.ts';
import {
  clusterVersionSource,
  osImageStreamSource,
  type SourceOptions,
  readStreamSources,
  findStreamObject,
} from './sources.ts';

export interface PoolOsOptions extends Pick<SourceOptions, 'namespace' | 'releaseImage'> {
  /** From flags: before those of the ConfigMap. With streams they are a source like others. */
  readonly osImages?: OSImages | undefined;
  /** Left out: streams are not used. */
  readonly gates?: Gates | undefined;
}

/** What is read for it beside the ConfigMap. What they say reaches a pool through its annotations. */
export const poolOsSources = ({ gates }: PoolOsOptions): Source[] =>
  gates === undefined
    ? []
    : [
        { ...osImageStreamSource, keysOf: () => [] },
        { ...clusterVersionSource, keysOf: () => [] },
      ];

/** Null: nobody has said yet which stream the pool is on. Its annotations bring it back. */
export function resolvePoolOs(pool: MachineConfigPool, options: PoolOsOptions, read: StoreReader): RenderImages | null {
  if (!usesStreams(options.gates)) {
    const { data } = read(configMaps).get(`${options.namespace}/${OS_IMAGES_CONFIG_MAP}`) ?? {};
    return { osImages: clusterImages(data, options.osImages), osStream: null };
  }
  const tracked = readTrackedStream(pool.metadata.annotations);
  const isUnknown = tracked === null ? mayHaveStreams(options, read) : isDamaged(tracked);
  return isUnknown ? null : imagesOnStream(pool, tracked);
}

/** A stream has images; where somebody took them away, they are put back before anything is rendered without. */
export const isDamaged = ({ name, images }: TrackedStream): boolean => name !== null && images === null;

/** A fleet whose OS nobody manages has no streams, and waits for none. */
function mayHaveStreams({ namespace, releaseImage, osImages }: PoolOsOptions, read: StoreReader): boolean {
  if (findStreamObject(read) !== undefined) return true;
  const osImage = osImages?.osImageURL;
  const osExtensionsImage = osImages?.baseOSExtensionsContainerImage;
  return hasSources(readStreamSources(read, { namespace, releaseImage, osImage, osExtensionsImage }));
}
