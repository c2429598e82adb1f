// Ids of images that came with a payload. An id tells nothing of who made an image, and we cannot ask the cloud: what was
// once in the ConfigMap is ours to replace, what never was is somebody's own.
import { objectAt, textAt } from './json-path.ts';
import type { BootImageConfig } from './boot-image-config.ts';
import type { Json } from './verdict.ts';

/** What is kept of payloads that have gone: some twenty of them; an object holds 256 KiB of annotations in all. */
const MOST_KEPT = 3000;
const LONGEST_ID = 64;
/** Clouds that name images by ids. Windows licence images (aws-winli) are elsewhere in the metadata and never ours. */
const clouds = ['aws', 'aliyun'] as const;

/** All that may be replaced: those of the ConfigMap now, and those that were kept. */
export const knownImages = (config: BootImageConfig, kept: string | undefined): ReadonlySet<string> =>
  new Set([...readKept(kept), ...imageIds(config)]);

/**
 * What to keep of a ConfigMap before another comes in its place: a list of ids for an annotation, those of the newest last.
 * The same string when there is nothing new.
 */
export function nextKept(config: BootImageConfig, kept: string | undefined): string {
  const before = readKept(kept);
  const known = new Set(before);
  const added = [...new Set(imageIds(config))].filter((id) => !known.has(id));
  return added.length === 0 ? (kept ?? '') : [...before, ...added].slice(-MOST_KEPT).join(',');
}

const readKept = (kept: string | undefined): string[] =>
  (kept ?? '')
    .split(',')
    .map((id) => id.trim())
    .filter(isId)
    .slice(-MOST_KEPT);

function imageIds(config: BootImageConfig): string[] {
  const streams = [...config.streams.values(), ...(config.defaultStream === null ? [] : [config.defaultStream])];
  return streams.flatMap((stream) => Object.values(objectAt(stream, 'architectures')).flatMap(idsOf));
}

const idsOf = (images: Json): string[] =>
  clouds.flatMap((cloud) =>
    Object.values(objectAt(images, 'images', cloud, 'regions'))
      .map((region) => textAt(region, 'image'))
      .filter(isId),
  );

const isId = (id: string): boolean => id !== '' && id.length <= LONGEST_ID && /^[\w-]+$/.test(id);
