// The boot images of a resource: those of the OS stream that its machines are on, for their architecture.
import { isSameStream, osStreamLabel } from '@slipway/api';
import { type BootImageConfig, imagesOf, type StreamImages } from './boot-image-config.ts';
import type { ClusterFacts, ResourceFacts } from './facts.ts';
import type { Architecture } from './verdict.ts';

/** Its own label says which stream, else that of the pool that its machines join; else the ConfigMap's default counts. */
export function streamImages(
  { labels }: Pick<ResourceFacts, 'labels'>,
  { workerStream }: Pick<ClusterFacts, 'workerStream'>,
  config: BootImageConfig,
  architecture: Architecture,
): StreamImages {
  const stream = labels[osStreamLabel] ?? workerStream;
  return imagesOf(config, stream === null ? null : nameIn(config, stream), architecture);
}

/** As the payload calls it, which may be another name than people use. */
const nameIn = ({ streams }: BootImageConfig, stream: string): string =>
  streams.has(stream) ? stream : (streams.keys().find((name) => isSameStream(name, stream)) ?? stream);
