import { fieldAt, isJsonObject, objectAt, textAt } from '../json-path.ts';
import { notOurs } from '../platforms/answers.ts';
import { machineApi } from '../platforms/azure.ts';
import type { ImageQuestion, ImageVerdict, JsonObject } from '../verdict.ts';
import { badTemplate, type TemplateRule, verdictOfView } from './template-rule.ts';

const plural = 'azuremachinetemplates';

/** An image of the marketplace; what the installer uploaded is moved there. */
export const clusterApi: TemplateRule = (spec, question) => {
  const image = fieldAt(spec, 'image');
  if (image === undefined || image === null)
    return question.isAdopted
      ? ofMarketplace(spec, {}, question)
      : notOurs('the default of the provider', 'The image is found by the provider, by the version of Kubernetes.');
  if (!isJsonObject(image)) return badTemplate('image', 'the image to boot', image);
  if (isJsonObject(fieldAt(image, 'marketplace'))) return ofMarketplace(spec, objectAt(image, 'marketplace'), question);
  const id = textAt(image, 'id') || idOf(objectAt(image, 'computeGallery')) || idOf(objectAt(image, 'sharedGallery'));
  if (id !== '') return ofUpload(spec, id, question);
  const gallery = textAt(image, 'computeGallery', 'gallery');
  if (gallery === '') return badTemplate('image', 'id, marketplace, computeGallery or sharedGallery', image);
  return notOurs(`gallery ${gallery}`, `Images of the public gallery ${gallery} are the owner's own choice.`);
};

/** The free plan is the one that needs no agreement of a third party. */
const types = { true: 'MarketplaceWithPlan', false: 'MarketplaceNoPlan' } as const;

function ofMarketplace(spec: JsonObject, marketplace: JsonObject, question: ImageQuestion): ImageVerdict {
  const isPaid = marketplace['thirdPartyImage'] === true;
  // Whatever it was, an adopted one goes to the images without a price.
  const given =
    Object.keys(marketplace).length === 0 ? { publisher: 'azureopenshift', offer: 'aro4', sku: 'v2' } : marketplace;
  const image = { ...given, resourceID: '', type: types[`${isPaid}`] };
  const view = {
    ...viewOf(spec, image),
    changed: ({ image }: JsonObject) => ({ image: { marketplace: marketplaceOf(image, marketplace) } }),
  };
  return verdictOfView(spec, view, question);
}

function ofUpload(spec: JsonObject, id: string, question: ImageQuestion): ImageVerdict {
  // The rule has ids without the subscription.
  const subscription = /^\/subscriptions\/[^/]+/i.exec(id)?.[0] ?? '';
  const view = {
    ...viewOf(spec, { resourceID: id.slice(subscription.length) }),
    image: id,
    changed: ({ image }: JsonObject) => ({ image: { marketplace: marketplaceOf(image, {}) } }),
    imported: (to: string) => ({ image: { id: subscription + to } }),
  };
  const verdict = verdictOfView(spec, view, question);
  return verdict.type === 'manual' ? { ...verdict, to: subscription + verdict.to } : verdict;
}

const viewOf = (spec: JsonObject, image: JsonObject) => ({
  plural,
  rule: machineApi,
  providerSpec: {
    image,
    securityProfile: { settings: { securityType: textAt(spec, 'securityProfile', 'securityType') } },
  },
  imported: (id: string): JsonObject => ({ image: { id } }),
});

/** What else the owner has said of an image of the marketplace stays. */
function marketplaceOf(image: Parameters<typeof textAt>[0], before: JsonObject): JsonObject {
  const isPaid = textAt(image, 'type') === types.true;
  const [publisher, offer, sku, version] = ['publisher', 'offer', 'sku', 'version'].map((name) => textAt(image, name));
  const isSaid = isPaid || Object.hasOwn(before, 'thirdPartyImage');
  return {
    ...before,
    publisher: publisher ?? '',
    offer: offer ?? '',
    sku: sku ?? '',
    version: version ?? '',
    ...(isSaid && { thirdPartyImage: isPaid }),
  };
}

/** An image in a gallery of a resource group, by its id; '' where it is in a public one. */
function idOf(gallery: JsonObject): string {
  const [subscription = '', group = '', name = '', image = '', version = ''] = [
    'subscriptionID',
    'resourceGroup',
    'gallery',
    'name',
    'version',
  ].map((field) => textAt(gallery, field));
  if ([subscription, group, name, image, version].includes('')) return '';
  return `/subscriptions/${subscription}/resourceGroups/${group}/providers/Microsoft.Compute/galleries/${name}/images/${image}/versions/${version}`;
}
