// Images that were uploaded to a resource group of Azure: by the installer, or by the owner of the cluster.
import { artifactOf } from './artifact.ts';
import { noImage } from './answers.ts';
import { download, useImage, word } from './commands.ts';
import { readMarketplaceImage, urnOf } from './azure-marketplace.ts';
import { fieldAt, textAt } from '../json-path.ts';
import type { Artifact, ImageQuestion, ImageVerdict, JsonObject } from '../verdict.ts';

interface Upload {
  readonly group: string;
  /** Empty: it is an image outside of galleries, as on Azure Stack. */
  readonly gallery: string;
  readonly name: string;
}

const uploadPattern =
  /^(?:\/subscriptions\/[^/]+)?\/resourceGroups\/([^/]+)\/providers\/Microsoft\.Compute\/(?:galleries\/([^/]+)\/)?images\/([^/]+)(?:\/versions\/[^/]+)?$/i;

/** Null: it is no image of a resource group. */
function uploadOf(resourceId: string): Upload | null {
  const [, group, gallery = '', name] = uploadPattern.exec(resourceId) ?? [];
  return group === undefined || name === undefined ? null : { group, gallery, name };
}

/** The installer names what it uploads after the cluster. */
export function isInstallersUpload(resourceId: string, { infrastructureName }: ImageQuestion): boolean {
  const upload = uploadOf(resourceId);
  if (upload === null || infrastructureName === '') return false;
  const { gallery, name } = upload;
  if (gallery !== '' && gallery !== `gallery_${infrastructureName.replaceAll('-', '_')}`) return false;
  return name === infrastructureName || name === `${infrastructureName}-gen2`;
}

const imageText = (spec: JsonObject): string =>
  textAt(spec, 'image', 'resourceID') || urnOf(readMarketplaceImage(fieldAt(spec, 'image')));

/** A version of an image in the gallery. Its id names the version, so that one can see that it was done. */
export function galleryImport(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const image = imageText(spec);
  const artifact = artifactOf(question.images, 'azure', 'vhd.gz');
  if (artifact === null) return noImage(image, question, 'artifacts.azure.formats["vhd.gz"]');
  const { group, gallery, name } = uploadOf(image) ?? ownGallery(spec, question);
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
export function stackImport(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const image = imageText(spec);
  const artifact = artifactOf(question.images, 'azurestack', 'vhd.gz');
  if (artifact === null) return noImage(image, question, 'artifacts.azurestack.formats["vhd.gz"]');
  const { group } = uploadOf(image) ?? ownGallery(spec, question);
  const name = `${clusterOf(question)}-rhcos-${artifact.version}`;
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

const clusterOf = ({ infrastructureName, resource }: ImageQuestion): string => infrastructureName || resource.name;

/** Where the installer would have put it. */
function ownGallery(spec: JsonObject, question: ImageQuestion): Upload {
  const cluster = clusterOf(question);
  const group = textAt(spec, 'resourceGroup') || `${cluster}-rg`;
  return { group, gallery: `gallery_${cluster.replaceAll('-', '_')}`, name: `${cluster}-gen2` };
}
