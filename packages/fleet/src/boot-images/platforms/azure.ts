// Azure: images of its marketplace, and images that were uploaded to a resource group.
import { fieldAt, isJsonObject, type JsonObject, objectAt, textAt } from '../json.ts';
import {
  type Architecture,
  type Artifact,
  badSpec,
  badTemplate,
  type ImageQuestion,
  type ImageRule,
  type ImageVerdict,
  noImage,
  notOurs,
} from '../verdict.ts';
import { osMajor } from '../boot-version.ts';
import { readArtifact, download, useImage, word } from './import.ts';
import { type PlatformDef, judgeView } from './platform.ts';

const TEMPLATE_KIND = 'AzureMachineTemplate';

export const azure = {
  type: 'azure',
  providerSpec: {
    kind: 'AzureMachineProviderSpec',
    apiVersions: ['azureproviderconfig.openshift.io/v1beta1', 'machine.openshift.io/v1beta1'],
  },
  machineApi: judgeProviderSpec,
  clusterApi: { kind: TEMPLATE_KIND, rules: { v1beta1: judgeTemplate } },
} as const satisfies PlatformDef;

/** An image of the marketplace; what the installer uploaded is moved there. */
function judgeProviderSpec(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const value = fieldAt(spec, 'image');
  if (!isJsonObject(value)) return badSpec('image', 'the image to boot', value);
  const image = readMarketplaceImage(value);
  const id = textAt(value, 'resourceID');
  if (id !== '') return ofUpload(spec, id, question);
  if (image.publisher === '' || image.offer === '') {
    return badSpec('image', 'publisher and offer, or resourceID', value);
  }
  return ofMarketplace(spec, image, question);
}

function ofUpload(spec: JsonObject, id: string, question: ImageQuestion): ImageVerdict {
  const isOurs = isInstallersUpload(id, question) || question.isAdopted;
  const importIt = selectImport(spec, question) ?? (hasMarketplace(question.images) ? null : galleryImport);
  const imported = importIt?.(spec, question);
  // An import leaves an id with a version in it: that it is done can be seen, whoever's the image was before.
  if (imported?.type === 'current') return imported;
  if (!isOurs) return notOurs(id, `Image ${id} was not uploaded by the installer of this cluster, going by its name.`);
  return imported ?? toMarketplace(spec, id, 'no-purchase-plan', generationWord(id), question);
}

function ofMarketplace(spec: JsonObject, image: MarketplaceImage, question: ImageQuestion): ImageVerdict {
  const urn = formatUrn(image);
  const importIt = selectImport(spec, question);
  if (importIt !== null) {
    return question.isAdopted
      ? importIt(spec, question)
      : notOurs(urn, `Its machines need an image that is uploaded for them.`);
  }
  const plan = detectPlan(image);
  if (plan !== null) return toMarketplace(spec, urn, plan, image.sku, question);
  if (!question.isAdopted) return notOurs(urn, `Image ${urn} is of a publisher or an offer that we do not know.`);
  return toMarketplace(spec, urn, 'no-purchase-plan', generationWord(image.sku), question);
}

/**
 * Azure Stack has no marketplace of ours. Stream metadata does not say which images can do what a security type asks for: a
 * machine with the wrong one is not made. Null: neither concerns these machines.
 */
function selectImport(spec: JsonObject, { azureCloud }: ImageQuestion): ImageRule | null {
  if (azureCloud === 'AzureStackCloud') return stackImport;
  return textAt(spec, 'securityProfile', 'settings', 'securityType') === '' ? null : galleryImport;
}

/** Others say the generation in more than one way. */
const generationWord = (name: string): string => (/gen-?2|g2|v2/i.test(name) ? 'v2' : '');

function toMarketplace(spec: JsonObject, from: string, plan: Plan, sku: string, question: ImageQuestion): ImageVerdict {
  const { images, architecture } = question;
  const generation = detectGeneration(plan, sku, architecture);
  const target = marketplaceImage(images, plan, generation);
  if (target === null) return noImage(from, question, marketplacePlace(plan, generation));
  const type = plan === 'no-purchase-plan' ? 'MarketplaceNoPlan' : 'MarketplaceWithPlan';
  const { version } = target;
  const to = formatUrn(target);
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
    formatUrn(readMarketplaceImage(image)) === formatUrn(target) &&
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

// Which image of the marketplace of Azure machines shall boot: by the plan they are paid by, and the generation of their
// virtual hardware. Both can only be told from the image they have.

interface MarketplaceImage {
  readonly publisher: string;
  readonly offer: string;
  readonly sku: string;
  readonly version: string;
}

/** As stream metadata names them: one without a price, and paid ones by what is bought, and where. */
type Plan = 'no-purchase-plan' | `${'ocp' | 'opp' | 'oke'}${'' | '-emea'}`;
type Generation = 'hyperVGen1' | 'hyperVGen2';

const paid = ['ocp', 'opp', 'oke'] as const;

/** Null: the image is of nobody we know. */
function detectPlan({ publisher, offer }: Pick<MarketplaceImage, 'publisher' | 'offer'>): Plan | null {
  if (publisher === 'azureopenshift') return 'no-purchase-plan';
  const product = paid.find((name) => offer === `rh-${name}-worker`);
  if (product === undefined) return null;
  if (publisher === 'redhat') return product;
  return publisher === 'redhat-limited' ? `${product}-emea` : null;
}

/** Machines of aarch64 have only the second generation. */
function detectGeneration(plan: Plan, sku: string, architecture: Architecture): Generation {
  if (architecture === 'aarch64') return 'hyperVGen2';
  const isSecond = plan === 'no-purchase-plan' ? sku.includes('v2') : !sku.includes('gen1');
  return isSecond ? 'hyperVGen2' : 'hyperVGen1';
}

const place = ['rhel-coreos-extensions', 'marketplace', 'azure'] as const;

const hasMarketplace = (images: JsonObject): boolean => isJsonObject(fieldAt(images, ...place));

/** Where it is in stream metadata, for people. */
const marketplacePlace = (plan: Plan, generation: Generation): string => [...place, plan, generation].join('.');

function marketplaceImage(images: JsonObject, plan: Plan, generation: Generation): MarketplaceImage | null {
  const found = readMarketplaceImage(fieldAt(images, ...place, plan, generation));
  return found.publisher === '' || found.offer === '' || found.sku === '' || found.version === '' ? null : found;
}

const readMarketplaceImage = (value: Parameters<typeof textAt>[0]): MarketplaceImage => ({
  publisher: textAt(value, 'publisher'),
  offer: textAt(value, 'offer'),
  sku: textAt(value, 'sku'),
  version: textAt(value, 'version'),
});

/** As the command line of Azure writes it. */
const formatUrn = ({ publisher, offer, sku, version }: MarketplaceImage): string =>
  [publisher, offer, sku, version].join(':');

// Images that were uploaded to a resource group of Azure: by the installer, or by the owner of the cluster.

interface Upload {
  readonly group: string;
  /** Empty: it is an image outside of galleries, as on Azure Stack. */
  readonly gallery: string;
  readonly name: string;
}

const UPLOAD_PATTERN =
  /^(?:\/subscriptions\/[^/]+)?\/resourceGroups\/([^/]+)\/providers\/Microsoft\.Compute\/(?:galleries\/([^/]+)\/)?images\/([^/]+)(?:\/versions\/[^/]+)?$/i;

/** Null: it is no image of a resource group. */
function parseUpload(resourceId: string): Upload | null {
  const [, group, gallery = '', name] = UPLOAD_PATTERN.exec(resourceId) ?? [];
  return group === undefined || name === undefined ? null : { group, gallery, name };
}

/** The installer names what it uploads after the cluster. */
function isInstallersUpload(resourceId: string, { infrastructureName }: ImageQuestion): boolean {
  const upload = parseUpload(resourceId);
  if (upload === null || infrastructureName === '') return false;
  const { gallery, name } = upload;
  if (gallery !== '' && gallery !== `gallery_${infrastructureName.replaceAll('-', '_')}`) return false;
  return name === infrastructureName || name === `${infrastructureName}-gen2`;
}

const imageText = (spec: JsonObject): string =>
  textAt(spec, 'image', 'resourceID') || formatUrn(readMarketplaceImage(fieldAt(spec, 'image')));

/** A version of an image in the gallery. Its id names the version, so that one can see that it was done. */
function galleryImport(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const image = imageText(spec);
  const artifact = readArtifact(question.images, 'azure', 'vhd.gz');
  if (artifact === null) return noImage(image, question, 'artifacts.azure.formats["vhd.gz"]');
  const { group, gallery, name } = parseUpload(image) ?? ownGallery(spec, question);
  // Versions of images in galleries are three numbers.
  const version = artifact.version.split('-')[0] ?? '';
  const to = `/resourceGroups/${group}/providers/Microsoft.Compute/galleries/${gallery}/images/${name}/versions/${version}`;
  if (image === to) return { type: 'current', image, version: artifact.version };
  const { file, commands } = download(artifact);
  const disk = 'https://$STORAGE_ACCOUNT.blob.core.windows.net/vhd/';
  return {
    type: 'manual',
    image,
    to,
    artifact,
    commands: [
      ...commands,
      uploadCommand(file),
      `az sig image-version create --resource-group ${word(group)} --gallery-name ${word(gallery)} --gallery-image-definition ${word(name)} --gallery-image-version ${word(version)} --os-vhd-storage-account "$STORAGE_ACCOUNT" --os-vhd-uri "${disk}${file}"`,
      useImage(question.resource, { image: uploadedImage(to) }),
    ],
  };
}

/** Azure Stack has no galleries, and an image of its own in stream metadata. */
function stackImport(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const image = imageText(spec);
  const artifact = readArtifact(question.images, 'azurestack', 'vhd.gz');
  if (artifact === null) return noImage(image, question, 'artifacts.azurestack.formats["vhd.gz"]');
  const { group } = parseUpload(image) ?? ownGallery(spec, question);
  const name = `${selectClusterName(question)}-rhcos-${artifact.version}`;
  const to = `/resourceGroups/${group}/providers/Microsoft.Compute/images/${name}`;
  if (image === to) return { type: 'current', image, version: artifact.version };
  return { type: 'manual', image, to, artifact, commands: stackCommands(artifact, group, name, to, question) };
}

function stackCommands(
  artifact: Artifact,
  group: string,
  name: string,
  to: string,
  { resource }: ImageQuestion,
): readonly string[] {
  const { file, commands } = download(artifact);
  return [
    ...commands,
    uploadCommand(file),
    `az image create --resource-group ${word(group)} --name ${word(name)} --os-type Linux --source "https://$STORAGE_ACCOUNT.blob.$STACK_DOMAIN/vhd/${file}"`,
    useImage(resource, { image: uploadedImage(to) }),
  ];
}

const uploadCommand = (file: string): string =>
  `az storage blob upload --account-name "$STORAGE_ACCOUNT" --container-name vhd --type page --name ${word(file)} --file ${word(file)}`;

const uploadedImage = (resourceID: string): JsonObject => ({
  publisher: '',
  offer: '',
  sku: '',
  version: '',
  resourceID,
  type: 'ID',
});

const selectClusterName = ({ infrastructureName, resource }: ImageQuestion): string =>
  infrastructureName || resource.name;

/** Where the installer would have put it. */
function ownGallery(spec: JsonObject, question: ImageQuestion): Upload {
  const cluster = selectClusterName(question);
  const group = textAt(spec, 'resourceGroup') || `${cluster}-rg`;
  return { group, gallery: `gallery_${cluster.replaceAll('-', '_')}`, name: `${cluster}-gen2` };
}

// The same in a template of Cluster API.

function judgeTemplate(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const image = fieldAt(spec, 'image');
  if (image === undefined || image === null)
    return question.isAdopted
      ? judgeMarketplaceTemplate(spec, {}, question)
      : notOurs('the default of the provider', 'The image is found by the provider, by the version of Kubernetes.');
  if (!isJsonObject(image)) return badTemplate('image', 'the image to boot', image);
  if (isJsonObject(fieldAt(image, 'marketplace')))
    return judgeMarketplaceTemplate(spec, objectAt(image, 'marketplace'), question);
  const id =
    textAt(image, 'id') ||
    formatImageId(objectAt(image, 'computeGallery')) ||
    formatImageId(objectAt(image, 'sharedGallery'));
  if (id !== '') return judgeUploadTemplate(spec, id, question);
  const gallery = textAt(image, 'computeGallery', 'gallery');
  if (gallery === '') return badTemplate('image', 'id, marketplace, computeGallery or sharedGallery', image);
  return notOurs(`gallery ${gallery}`, `Images of the public gallery ${gallery} are the owner's own choice.`);
}

/** The free plan is the one that needs no agreement of a third party. */
const types = { true: 'MarketplaceWithPlan', false: 'MarketplaceNoPlan' } as const;

function judgeMarketplaceTemplate(spec: JsonObject, marketplace: JsonObject, question: ImageQuestion): ImageVerdict {
  const isPaid = marketplace['thirdPartyImage'] === true;
  // Whatever it was, an adopted one goes to the images without a price.
  const given =
    Object.keys(marketplace).length === 0 ? { publisher: 'azureopenshift', offer: 'aro4', sku: 'v2' } : marketplace;
  const image = { ...given, resourceID: '', type: types[`${isPaid}`] };
  const view = {
    ...buildView(spec, image),
    changed: ({ image }: JsonObject) => ({ image: { marketplace: buildMarketplaceImage(image, marketplace) } }),
  };
  return judgeView(spec, view, question);
}

function judgeUploadTemplate(spec: JsonObject, id: string, question: ImageQuestion): ImageVerdict {
  // The rule has ids without the subscription.
  const subscription = /^\/subscriptions\/[^/]+/i.exec(id)?.[0] ?? '';
  const view = {
    ...buildView(spec, { resourceID: id.slice(subscription.length) }),
    image: id,
    changed: ({ image }: JsonObject) => ({ image: { marketplace: buildMarketplaceImage(image, {}) } }),
    imported: (to: string) => ({ image: { id: subscription + to } }),
  };
  const verdict = judgeView(spec, view, question);
  return verdict.type === 'manual' ? { ...verdict, to: subscription + verdict.to } : verdict;
}

const buildView = (spec: JsonObject, image: JsonObject) => ({
  kind: TEMPLATE_KIND,
  rule: judgeProviderSpec,
  providerSpec: {
    image,
    securityProfile: { settings: { securityType: textAt(spec, 'securityProfile', 'securityType') } },
  },
  imported: (id: string): JsonObject => ({ image: { id } }),
});

/** What else the owner has said of an image of the marketplace stays. */
function buildMarketplaceImage(image: Parameters<typeof textAt>[0], before: JsonObject): JsonObject {
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
function formatImageId(gallery: JsonObject): string {
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
