// A PinnedImageSet as the node needs it.
import type { PinnedImageSet } from '@slipway/api';
import type { Problem } from '../problem.ts';

export interface WantedSet {
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  /** By digest, sorted, each once. */
  readonly images: readonly string[];
}

export type ReadSet =
  | { readonly ok: true; readonly set: WantedSet }
  | { readonly ok: false; readonly problem: Problem };

/** As the API has it. */
const MOST_IMAGES = 500;
/** The name goes into a file of the container runtime and back into its requests: nothing else is let through. */
const BY_DIGEST = /^[\w.:-]+(?:\/[\w.-]*)+@sha256:[a-f0-9]{64}$/;
const MOST_LETTERS = 447;

/** undefined: the API has no such set. */
export function readSet(name: string, found: PinnedImageSet | undefined): ReadSet {
  if (found === undefined) {
    return bad(
      `PinnedImageSet ${name}, which this node is to pin, does not exist: it was just deleted, and the node is told so soon; ` +
        'if that does not happen, see whether the controller runs. What the node holds of it stays',
    );
  }
  const { uid = '', generation = 1 } = found.metadata;
  const images = found.spec.pinnedImages.map((image) => image.name);
  if (images.length > MOST_IMAGES) {
    return bad(
      `PinnedImageSet ${name}, spec.pinnedImages: expected at most ${MOST_IMAGES} images, found ${images.length}: make several sets of them`,
    );
  }
  const wrong = images.findIndex((image) => image.length > MOST_LETTERS || !BY_DIGEST.test(image));
  if (wrong !== -1) {
    return bad(
      `PinnedImageSet ${name}, spec.pinnedImages[${wrong}].name: expected an image by digest, host/name@sha256:…, found ` +
        `${JSON.stringify(images[wrong]).slice(0, 200)}: correct it in the set`,
    );
  }
  return { ok: true, set: { name, uid, generation, images: [...new Set(images)].toSorted() } };
}

const bad = (message: string): ReadSet => ({ ok: false, problem: { code: 'SLW_PINNING_SET', message } });
