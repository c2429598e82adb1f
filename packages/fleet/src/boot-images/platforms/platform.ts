// What the rules of all platforms say in the same words.
import { bootImageAdoptAnnotation } from '@slipway/api';
import { fieldAt, isJsonObject, objectAt, shown, textAt } from '../json.ts';
import type { ImageQuestion, ImageRule, ImageVerdict, Json, JsonObject } from '../verdict.ts';
import { templateCommands } from './import.ts';

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

// Clouds where an image has an id of its own in every region, and the id says nothing of the image.

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

// The image in an infrastructure template: another form of what a providerSpec says, so the rule of the platform is one, and
// here is only where the template has what.

/** What a template does not say of its machines. */
export interface TemplatePlace {
  /** '' where it is not known. */
  readonly region: string;
}

/** `spec`: spec.template.spec of the template. */
export type TemplateRule = (spec: JsonObject, question: ImageQuestion, place: TemplatePlace) => ImageVerdict;

/** A template seen as a providerSpec. Fields are those of spec.template.spec that change; null takes one away. */
export interface ProviderSpecView {
  /** Such as vspheremachinetemplates. */
  readonly plural: string;
  readonly rule: ImageRule;
  readonly providerSpec: JsonObject;
  /** The image for people; left out: as the rule has it. */
  readonly image?: string;
  /** After a change: out of the changed providerSpec. Platforms where images are imported know none. */
  readonly changed?: (providerSpec: JsonObject) => JsonObject;
  /** For what a person has imported under a name. */
  readonly imported: (name: string) => JsonObject;
}

export function verdictOfView(spec: JsonObject, view: ProviderSpecView, question: ImageQuestion): ImageVerdict {
  const verdict = view.rule(view.providerSpec, question);
  const image = view.image ?? verdict.image;
  if (verdict.type === 'change') {
    return { ...verdict, image, spec: withFields(spec, view.changed?.(verdict.spec) ?? {}) };
  }
  if (verdict.type !== 'manual') return { ...verdict, image };
  // The last command of a rule lets a MachineSet of the Machine API use the image; the others bring it to the platform.
  const toImport = verdict.commands.slice(0, -1);
  const toUse = templateCommands(question.resource, view.plural, verdict.artifact.version, view.imported(verdict.to));
  return { ...verdict, image, commands: [...toImport, ...toUse] };
}

/** Nothing else changes, not even the order of fields. */
function withFields(spec: JsonObject, fields: JsonObject): JsonObject {
  const isGone = (key: string): boolean => Object.hasOwn(fields, key) && fields[key] === null;
  return Object.fromEntries(Object.entries({ ...spec, ...fields }).filter(([key]) => !isGone(key)));
}

/** A field of the template is not as its provider has it. */
export const badTemplate = (path: string, expected: string, found: Json | undefined): ImageVerdict => ({
  type: 'failed',
  image: '',
  code: 'SLW_BOOT_IMAGES_SPEC',
  message: `spec.template.spec.${path} of the template: expected ${expected}, found ${shown(found)}. Refer to a template that has it, or opt the machines out of boot image updates.`,
});

/** The name that the image of the installer would have; for images that are named by something that tells nothing. */
export const ownImageName = ({ infrastructureName, resource }: ImageQuestion): string =>
  `${infrastructureName || resource.name}-rhcos`;
