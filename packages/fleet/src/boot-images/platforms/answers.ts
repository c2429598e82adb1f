// What the rules of all platforms say in the same words.
import { bootImageAdoptAnnotation } from '@slipway/api';
import { shown } from '../json-path.ts';
import type { ImageQuestion, ImageVerdict, Json } from '../verdict.ts';

/** A field of the spec is not as the platform has it. */
export const badSpec = (path: string, expected: string, found: Json | undefined): ImageVerdict => ({
  type: 'failed',
  image: '',
  code: 'SLW_BOOT_IMAGES_SPEC',
  message: `providerSpec.value.${path}: expected ${expected}, found ${shown(found)}. Correct it, or opt the machines out of boot image updates.`,
});

/** The stream has nothing for the platform on this architecture. */
export const noImage = (image: string, { architecture }: ImageQuestion, place: string): ImageVerdict => ({
  type: 'failed',
  image,
  code: 'SLW_BOOT_IMAGES_ARCH',
  message: `ConfigMap coreos-bootimages: expected ${place} for ${architecture}, found none. The release ships no such boot image: opt the machines out of boot image updates, or use a release that does.`,
});

export const noRegion = (image: string, region: string, regions: readonly string[]): ImageVerdict => ({
  type: 'failed',
  image,
  code: 'SLW_BOOT_IMAGES_REGION',
  message: `ConfigMap coreos-bootimages: expected an image for region ${shown(region)}, found only ${regions.length === 0 ? 'none' : regions.slice(0, 40).join(', ')}. Copy the image to the region yourself, and opt the machines out of boot image updates.`,
});

/** Somebody's own: `why` is a sentence. */
export const notOurs = (image: string, why: string): ImageVerdict => ({
  type: 'theirs',
  image,
  why: `${why} It is left alone; annotation ${bootImageAdoptAnnotation}=true on what makes the machines lets it be replaced.`,
});
