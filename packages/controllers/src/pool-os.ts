// The OS images that a pool is rendered with: those of its stream if streams are used, else those of the cluster.
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
  /** From flags, which take precedence over the ConfigMap. With streams, flags are one of the sources. */
  readonly osImages?: OSImages | undefined;
  /** Undefined: streams are not used. */
  readonly gates?: Gates | undefined;
}

/** Read in addition to the ConfigMap. They affect a pool only through its annotations. */
export const poolOsSources = ({ gates }: PoolOsOptions): Source[] =>
  gates === undefined
    ? []
    : [
        { ...osImageStreamSource, keysOf: () => [] },
        { ...clusterVersionSource, keysOf: () => [] },
      ];

/** Null: the stream of the pool is not known yet. Its annotations trigger the next reconcile. */
export function resolvePoolOs(pool: MachineConfigPool, options: PoolOsOptions, read: StoreReader): RenderImages | null {
  if (!usesStreams(options.gates)) {
    const { data } = read(configMaps).get(`${options.namespace}/${OS_IMAGES_CONFIG_MAP}`) ?? {};
    return { osImages: clusterImages(data, options.osImages), osStream: null };
  }
  const tracked = readTrackedStream(pool.metadata.annotations);
  const isUnknown = tracked === null ? mayHaveStreams(options, read) : isDamaged(tracked);
  return isUnknown ? null : imagesOnStream(pool, tracked);
}

/** A stream has images. If a user removed them, they are restored before the pool is rendered. */
export const isDamaged = ({ name, images }: TrackedStream): boolean => name !== null && images === null;

/** A fleet with an unmanaged OS has no streams, and does not wait for any. */
function mayHaveStreams({ namespace, releaseImage, osImages }: PoolOsOptions, read: StoreReader): boolean {
  if (findStreamObject(read) !== undefined) return true;
  const osImage = osImages?.osImageURL;
  const osExtensionsImage = osImages?.baseOSExtensionsContainerImage;
  return hasSources(readStreamSources(read, { namespace, releaseImage, osImage, osExtensionsImage }));
}
