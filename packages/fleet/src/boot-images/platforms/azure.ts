// Azure: marketplace images, and images that were uploaded to a resource group.
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
import { type PlatformDef, judgeView, imageFields } from './platform.ts';

const TEMPLATE_KIND = 'AzureMachineTemplate';

export const azure = {
  type: 'azure',
  providerSpec: {
    kind: 'AzureMachineProviderSpec',
    imagePaths: imageFields('image'),
    apiVersions: ['azureproviderconfig.openshift.io/v1beta1', 'machine.openshift.io/v1beta1'],
  },
  machineApi: judgeProviderSpec,
  clusterApi: { kind: TEMPLATE_KIND, imagePaths: imageFields('image'), rules: { v1beta1: judgeTemplate } },
} as const satisfies PlatformDef;

/** A marketplace image; machines with an image that the installer uploaded move there. */
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
  // The id of an imported image contains its version: this shows that the import is done, also for user-managed images.
  if (imported?.type === 'current') return imported;
  if (!isOurs)
    return notOurs(id, `Image ${id} was not uploaded by the installer of this cluster, judging by its name.`);
  return imported ?? toMarketplace(spec, id, 'no-purchase-plan', generationOfUpload(id, question), question);
}

function ofMarketplace(spec: JsonObject, image: MarketplaceImage, question: ImageQuestion): ImageVerdict {
  const urn = formatUrn(image);
  const importIt = selectImport(spec, question);
  if (importIt !== null) {
    return question.isAdopted
      ? importIt(spec, question)
      : notOurs(urn, `These machines need an uploaded image, not one from the marketplace.`);
  }
  const plan = detectPlan(image);
  if (plan !== null) return toMarketplace(spec, urn, plan, image.sku, question);
  if (!question.isAdopted) return notOurs(urn, `Image ${urn} has an unknown publisher or offer.`);
  return toMarketplace(spec, urn, 'no-purchase-plan', generationWord(image.sku), question);
}

/**
 * Azure Stack has no marketplace with our images. Stream metadata does not state which images support a security type,
 * and Azure cannot create a machine with the wrong one. Null: neither applies to these machines.
 */
function selectImport(spec: JsonObject, { azureCloud }: ImageQuestion): ImageRule | null {
  if (azureCloud === 'AzureStackCloud') return stackImport;
  return textAt(spec, 'securityProfile', 'settings', 'securityType') === '' ? null : galleryImport;
}

/** Others write the generation in various ways. The short ones count only as a word. */
const generationWord = (name: string): string => (/gen-?2|(?:^|[-_.])[gv]2(?:[-_.]|$)/i.test(name) ? 'v2' : '');

/** Only from the name of the image, without that of the cluster: both may contain the same letters by chance. */
function generationOfUpload(id: string, { infrastructureName }: ImageQuestion): string {
  const name = /\/images\/([^/]+)/i.exec(id)?.[1] ?? '';
  const isClusters = infrastructureName !== '' && name.startsWith(infrastructureName);
  return generationWord(isClusters ? name.slice(infrastructureName.length) : name);
}

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
      `The only marketplace image of the release, ${to}, has an older OS than its stream, and ${from} already has the OS of the stream.`,
    );
  }
  const image = { ...target, resourceID: '', type };
  return { type: 'change', image: from, to, version, spec: { ...spec, image } };
}

/** The type defaults to that of a paid plan. */
function isSame(spec: JsonObject, target: MarketplaceImage, type: string): boolean {
  const image = fieldAt(spec, 'image');
  return (
    textAt(image, 'resourceID') === '' &&
    formatUrn(readMarketplaceImage(image)) === formatUrn(target) &&
    (textAt(image, 'type') || 'MarketplaceWithPlan') === type
  );
}

/**
 * If the OS of a stream is not on the marketplace yet, the stream lists images with an older OS. New machines may boot
 * them, as the installer allows; a machine that already boots the OS of the stream is not downgraded.
 */
function isStandIn(current: string, target: string, images: JsonObject): boolean {
  const ofStream = osMajor(textAt(images, 'artifacts', 'azure', 'release'));
  return ofStream !== null && osMajor(target) !== ofStream && osMajor(current) === ofStream;
}

// The marketplace image for machines: depends on their billing plan and the generation of their virtual hardware. Both
// are visible only in their current image.

interface MarketplaceImage {
  readonly publisher: string;
  readonly offer: string;
  readonly sku: string;
  readonly version: string;
}

/** As named in stream metadata: one free plan, and paid plans by product and region. */
type Plan = 'no-purchase-plan' | `${'ocp' | 'opp' | 'oke'}${'' | '-emea'}`;
type Generation = 'hyperVGen1' | 'hyperVGen2';

const paid = ['ocp', 'opp', 'oke'] as const;

/** Null: unknown publisher. */
function detectPlan({ publisher, offer }: Pick<MarketplaceImage, 'publisher' | 'offer'>): Plan | null {
  if (publisher === 'azureopenshift') return 'no-purchase-plan';
  const product = paid.find((name) => offer === `rh-${name}-worker`);
  if (product === undefined) return null;
  if (publisher === 'redhat') return product;
  return publisher === 'redhat-limited' ? `${product}-emea` : null;
}

/** aarch64 machines have only the second generation. */
function detectGeneration(plan: Plan, sku: string, architecture: Architecture): Generation {
  if (architecture === 'aarch64') return 'hyperVGen2';
  const isSecond = plan === 'no-purchase-plan' ? sku.includes('v2') : !sku.includes('gen1');
  return isSecond ? 'hyperVGen2' : 'hyperVGen1';
}

const place = ['rhel-coreos-extensions', 'marketplace', 'azure'] as const;

const hasMarketplace = (images: JsonObject): boolean => isJsonObject(fieldAt(images, ...place));

/** Its path in stream metadata, for messages. */
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

/** In the format of Azure's command line. */
const formatUrn = ({ publisher, offer, sku, version }: MarketplaceImage): string =>
  [publisher, offer, sku, version].join(':');

// Images that were uploaded to a resource group of Azure: by the installer, or by the owner of the cluster.

interface Upload {
  readonly group: string;
  /** Empty: the image is not in a gallery, as on Azure Stack. */
  readonly gallery: string;
  readonly name: string;
}

const UPLOAD_PATTERN =
  /^(?:\/subscriptions\/[^/]+)?\/resourceGroups\/([^/]+)\/providers\/Microsoft\.Compute\/(?:galleries\/([^/]+)\/)?images\/([^/]+)(?:\/versions\/[^/]+)?$/i;

/** Null: not an image of a resource group. */
function parseUpload(resourceId: string): Upload | null {
  const [, group, gallery = '', name] = UPLOAD_PATTERN.exec(resourceId) ?? [];
  return group === undefined || name === undefined ? null : { group, gallery, name };
}

/** The installer names its uploads after the cluster. */
function isInstallersUpload(resourceId: string, { infrastructureName }: ImageQuestion): boolean {
  const upload = parseUpload(resourceId);
  if (upload === null || infrastructureName === '') return false;
  const { gallery, name } = upload;
  if (gallery !== '' && gallery !== `gallery_${infrastructureName.replaceAll('-', '_')}`) return false;
  return name === infrastructureName || name === `${infrastructureName}-gen2`;
}

const imageText = (spec: JsonObject): string =>
  textAt(spec, 'image', 'resourceID') || formatUrn(readMarketplaceImage(fieldAt(spec, 'image')));

/** A version of an image in the gallery. Its id contains the version, which shows that the import is done. */
function galleryImport(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const image = imageText(spec);
  const artifact = readArtifact(question.images, 'azure', 'vhd.gz');
  if (artifact === null) return noImage(image, question, 'artifacts.azure.formats["vhd.gz"]');
  const { group, gallery, name } = parseUpload(image) ?? ownGallery(spec, question);
  // Image versions in galleries have three numbers.
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

/** Azure Stack has no galleries, and a separate image in stream metadata. */
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

/** Where the installer would upload it. */
function ownGallery(spec: JsonObject, question: ImageQuestion): Upload {
  const cluster = selectClusterName(question);
  const group = textAt(spec, 'resourceGroup') || `${cluster}-rg`;
  return { group, gallery: `gallery_${cluster.replaceAll('-', '_')}`, name: `${cluster}-gen2` };
}

// The same for a template of Cluster API.

function judgeTemplate(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const image = fieldAt(spec, 'image');
  if (image === undefined || image === null)
    return question.isAdopted
      ? judgeMarketplaceTemplate(spec, {}, question)
      : notOurs('the default of the provider', 'The provider selects the image by the version of Kubernetes.');
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
  return notOurs(`gallery ${gallery}`, `Images of the public gallery ${gallery} are user-managed.`);
}

/** The free plan needs no third-party agreement. */
const types = { true: 'MarketplaceWithPlan', false: 'MarketplaceNoPlan' } as const;

function judgeMarketplaceTemplate(spec: JsonObject, marketplace: JsonObject, question: ImageQuestion): ImageVerdict {
  const isPaid = marketplace['thirdPartyImage'] === true;
  // An adopted image always moves to the free plan.
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
  // The rule expects ids without the subscription.
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

/** Preserves the other marketplace fields that the user set. */
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

/** The id of an image in a gallery of a resource group; '' if it is in a public gallery. */
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
