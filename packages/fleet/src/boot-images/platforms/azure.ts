import { badSpec, noImage, notOurs } from './answers.ts';
import {
  generationOf,
  hasMarketplace,
  marketplaceImage,
  marketplacePlace,
  planOf,
  readMarketplaceImage,
  urnOf,
  type MarketplaceImage,
  type Plan,
} from './azure-marketplace.ts';
import { galleryImport, isInstallersUpload, stackImport } from './azure-upload.ts';
import { fieldAt, isJsonObject, textAt } from '../json-path.ts';
import { osMajor } from '../os-version.ts';
import type { ImageQuestion, ImageRule, ImageVerdict, JsonObject } from '../verdict.ts';

/** An image of the marketplace; what the installer uploaded is moved there. */
export const machineApi: ImageRule = (spec, question) => {
  const value = fieldAt(spec, 'image');
  if (!isJsonObject(value)) return badSpec('image', 'the image to boot', value);
  const image = readMarketplaceImage(value);
  const id = textAt(value, 'resourceID');
  if (id !== '') return ofUpload(spec, id, question);
  if (image.publisher === '' || image.offer === '') {
    return badSpec('image', 'publisher and offer, or resourceID', value);
  }
  return ofMarketplace(spec, image, question);
};

function ofUpload(spec: JsonObject, id: string, question: ImageQuestion): ImageVerdict {
  const isOurs = isInstallersUpload(id, question) || question.isAdopted;
  const importIt = importOf(spec, question) ?? (hasMarketplace(question.images) ? null : galleryImport);
  const imported = importIt?.(spec, question);
  // An import leaves an id with a version in it: that it is done can be seen, whoever's the image was before.
  if (imported?.type === 'current') return imported;
  if (!isOurs) return notOurs(id, `Image ${id} was not uploaded by the installer of this cluster, going by its name.`);
  return imported ?? toMarketplace(spec, id, 'no-purchase-plan', generationWord(id), question);
}

function ofMarketplace(spec: JsonObject, image: MarketplaceImage, question: ImageQuestion): ImageVerdict {
  const urn = urnOf(image);
  const importIt = importOf(spec, question);
  if (importIt !== null) {
    return question.isAdopted
      ? importIt(spec, question)
      : notOurs(urn, `Its machines need an image that is uploaded for them.`);
  }
  const plan = planOf(image);
  if (plan !== null) return toMarketplace(spec, urn, plan, image.sku, question);
  if (!question.isAdopted) return notOurs(urn, `Image ${urn} is of a publisher or an offer that we do not know.`);
  return toMarketplace(spec, urn, 'no-purchase-plan', generationWord(image.sku), question);
}

/**
 * Azure Stack has no marketplace of ours. Stream metadata does not say which images can do what a security type asks for: a
 * machine with the wrong one is not made. Null: neither concerns these machines.
 */
function importOf(spec: JsonObject, { azureCloud }: ImageQuestion): ImageRule | null {
  if (azureCloud === 'AzureStackCloud') return stackImport;
  return textAt(spec, 'securityProfile', 'settings', 'securityType') === '' ? null : galleryImport;
}

/** Others say the generation in more than one way. */
const generationWord = (name: string): string => (/gen-?2|g2|v2/i.test(name) ? 'v2' : '');

function toMarketplace(spec: JsonObject, from: string, plan: Plan, sku: string, question: ImageQuestion): ImageVerdict {
  const { images, architecture } = question;
  const generation = generationOf(plan, sku, architecture);
  const target = marketplaceImage(images, plan, generation);
  if (target === null) return noImage(from, question, marketplacePlace(plan, generation));
  const type = plan === 'no-purchase-plan' ? 'MarketplaceNoPlan' : 'MarketplaceWithPlan';
  const { version } = target;
  const to = urnOf(target);
  if (isSame(spec, target, type)) return { type: 'current', image: to, version };
  const current = textAt(spec, 'image', 'version');
  if (!question.isAdopted && isStandIn(current, version, images)) {
    return notOurs(
      from,
      `The release has only image ${to} for the marketplace, of an OS older than that of its stream, which ${from} has.`,
    );
  }
  const image = { ...target, resourceID: '', type };
  return { type: 'change', image: from, to, version, spec: { ...spec, image } };
}

/** A type that is left out is that of a plan that is paid for. */
function isSame(spec: JsonObject, target: MarketplaceImage, type: string): boolean {
  const image = fieldAt(spec, 'image');
  return (
    textAt(image, 'resourceID') === '' &&
    urnOf(readMarketplaceImage(image)) === urnOf(target) &&
    (textAt(image, 'type') || 'MarketplaceWithPlan') === type
  );
}

/**
 * A stream whose OS is not on the marketplace yet has the images of an older OS there. New machines may boot it, as the
 * installer lets them; one that boots the OS of the stream already is not taken back.
 */
function isStandIn(current: string, target: string, images: JsonObject): boolean {
  const ofStream = osMajor(textAt(images, 'artifacts', 'azure', 'release'));
  return ofStream !== null && osMajor(target) !== ofStream && osMajor(current) === ofStream;
}
