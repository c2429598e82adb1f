// Clouds where an image has an id of its own in every region, and the id says nothing of the image.
import { noImage, noRegion, notOurs } from './answers.ts';
import { fieldAt, isJsonObject, objectAt, textAt } from '../json-path.ts';
import type { ImageQuestion, ImageVerdict, JsonObject } from '../verdict.ts';

interface RegionImage {
  readonly id: string;
  readonly version: string;
}

/** `cloud`: as stream metadata names it. */
function regionImage(images: JsonObject, cloud: string, region: string): RegionImage | null {
  const id = textAt(images, 'images', cloud, 'regions', region, 'image');
  return id === '' ? null : { id, version: textAt(images, 'images', cloud, 'regions', region, 'release') };
}

export const hasRegions = (images: JsonObject, cloud: string): boolean =>
  isJsonObject(fieldAt(images, 'images', cloud, 'regions'));

interface RegionChoice {
  readonly cloud: string;
  readonly region: string;
  /** Id in the spec; '': the spec names its image in another way, `text` says it for people. */
  readonly current: string;
  readonly text: string;
  readonly change: (id: string) => JsonObject;
}

export function verdictOfRegion(choice: RegionChoice, question: ImageQuestion): ImageVerdict {
  const { cloud, region, current, text } = choice;
  const target = regionImage(question.images, cloud, region);
  if (target !== null && current === target.id) return { type: 'current', image: current, version: target.version };
  if (!question.isAdopted && !question.knownImages.has(current)) return notOurs(text, whyNotOurs(choice, question));
  if (target !== null) {
    return { type: 'change', image: text, to: target.id, version: target.version, spec: choice.change(target.id) };
  }
  if (!hasRegions(question.images, cloud)) return noImage(text, question, `images.${cloud}`);
  return noRegion(text, region, Object.keys(objectAt(question.images, 'images', cloud, 'regions')));
}

function whyNotOurs({ current, text }: RegionChoice, { images }: ImageQuestion): string {
  if (current === '') return `The image is found by ${text}, which is the owner's own choice.`;
  const licensed = Object.values(objectAt(images, 'rhel-coreos-extensions', 'aws-winli', 'regions'));
  return licensed.some((region) => textAt(region, 'image') === current)
    ? `Image ${current} carries a licence of Windows.`
    : `Image ${current} was in no release that this cluster has seen: it may be of the marketplace, or somebody's own.`;
}
