// The OS images that a pool is rendered with: those of its stream, where streams are used, else those of the cluster.
import { configMaps, isSameStream, type MachineConfigPool } from '@slipway/api';
import { type OSImages, type RenderRequest, trackedOf, type TrackedStream } from '@slipway/fleet';
import { hasSources, osImagesConfigMap } from '@slipway/fleet/stream-discovery';
import type { Gates, Read, Source } from '@slipway/kube';
import { usesStreams } from './gate.ts';
import {
  clusterVersionSource,
  osImageStreamSource,
  type SourceOptions,
  sourcesIn,
  streamObjectIn,
} from './stream-reads.ts';

export interface PoolOsOptions extends Pick<SourceOptions, 'namespace' | 'releaseImage'> {
  /** From flags: before those of the ConfigMap. With streams they are a source like others. */
  readonly osImages?: OSImages | undefined;
  /** Left out: streams are not used. */
  readonly gates?: Gates | undefined;
}

export interface PoolOs {
  readonly osImages: OSImages;
  readonly osStream: NonNullable<RenderRequest['osStream']> | null;
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
export function poolOsOf(pool: MachineConfigPool, options: PoolOsOptions, read: Read): PoolOs | null {
  if (!usesStreams(options.gates)) return { osImages: clusterImages(options, read), osStream: null };
  const tracked = trackedOf(pool.metadata.annotations);
  if (tracked === null) return mayHaveStreams(options, read) ? null : { osImages: {}, osStream: null };
  if (isDamaged(tracked)) return null;
  return { osImages: imagesOf(tracked), osStream: streamOf(pool, tracked) };
}

/** A stream has images; where somebody took them away, they are put back before anything is rendered without. */
export const isDamaged = ({ name, images }: TrackedStream): boolean => name !== null && images === null;

function clusterImages({ namespace, osImages }: PoolOsOptions, read: Read): OSImages {
  const { data } = read(configMaps).get(`${namespace}/${osImagesConfigMap}`) ?? {};
  const osImageURL = data?.['baseOSContainerImage'];
  const baseOSExtensionsContainerImage = data?.['baseOSExtensionsContainerImage'];
  return {
    ...(osImageURL !== undefined && { osImageURL }),
    ...(baseOSExtensionsContainerImage !== undefined && { baseOSExtensionsContainerImage }),
    ...osImages,
  };
}

function imagesOf({ images }: TrackedStream): OSImages {
  if (images === null) return {};
  const { osImage, osExtensionsImage } = images;
  return {
    osImageURL: osImage,
    ...(osExtensionsImage !== '' && { baseOSExtensionsContainerImage: osExtensionsImage }),
  };
}

/** One that asks for a stream that it did not get has not asked for this one. */
function streamOf({ spec }: MachineConfigPool, { name }: TrackedStream): PoolOs['osStream'] {
  if (name === null) return null;
  const asked = spec.osImageStream?.name;
  return { name, isAsked: asked !== undefined && isSameStream(asked, name) };
}

/** A fleet whose OS nobody manages has no streams, and waits for none. */
function mayHaveStreams({ namespace, releaseImage, osImages }: PoolOsOptions, read: Read): boolean {
  if (streamObjectIn(read) !== undefined) return true;
  const osImage = osImages?.osImageURL;
  const osExtensionsImage = osImages?.baseOSExtensionsContainerImage;
  return hasSources(sourcesIn(read, { namespace, releaseImage, osImage, osExtensionsImage }));
}
