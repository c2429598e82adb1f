import { fieldAt, isJsonObject, type Json, type JsonObject, textAt } from '../json.ts';
import {
  badSpec,
  badTemplate,
  type ImageQuestion,
  type ImageVerdict,
  noImage,
  notOurs,
  unknownImage,
} from '../verdict.ts';
import { isNamedByInstaller } from './import.ts';
import { type PlatformDef, imageFields, type ImagePaths } from './platform.ts';

export const gcp = {
  type: 'gcp',
  providerSpec: {
    kind: 'GCPMachineProviderSpec',
    imagePaths: listBootImagePaths,
    apiVersions: ['gcpprovider.openshift.io/v1beta1', 'machine.openshift.io/v1beta1'],
  },
  machineApi: judgeProviderSpec,
  clusterApi: { kind: 'GCPMachineTemplate', imagePaths: imageFields('image'), rules: { v1beta1: judgeTemplate } },
} as const satisfies PlatformDef;

/** The project that has always published the OS images. */
const OUR_PROJECT = 'rhcos-cloud';

interface GcpImage {
  readonly reference: string;
  readonly version: string;
}

/** The image of the stream; null: none for the architecture. */
function gcpImage(images: JsonObject): GcpImage | null {
  const project = textAt(images, 'images', 'gcp', 'project');
  const name = textAt(images, 'images', 'gcp', 'name');
  if (project === '' || name === '') return null;
  return {
    reference: `projects/${project}/global/images/${name}`,
    version: textAt(images, 'images', 'gcp', 'release'),
  };
}

/** In our project, or in the project of the stream's images: any other is a copy, or the marketplace. */
function isOurGcpImage(reference: string, images: JsonObject): boolean {
  const project = /^projects\/([^/]+)\/global\/images\//.exec(toImagePath(reference))?.[1];
  return project !== undefined && [OUR_PROJECT, textAt(images, 'images', 'gcp', 'project')].includes(project);
}

/** A reference may start with the URL of the API. */
const toImagePath = (reference: string): string => reference.replace(/^https:\/\/[^/]+\/compute\/[^/]+\//, '');

const isSameGcpImage = (one: string, other: string): boolean => toImagePath(one) === toImagePath(other);

/** The image of all boot disks. */
function judgeProviderSpec(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const disks = fieldAt(spec, 'disks');
  const boot = isList(disks) ? disks.filter(isBoot) : [];
  if (!isList(disks) || boot.length === 0) return badSpec('disks', 'a disk with boot: true', disks);
  const unnamed = boot.find((disk) => textAt(disk, 'image') === '');
  if (unnamed !== undefined) return badSpec('disks[].image', 'the image to boot', fieldAt(unnamed, 'image'));
  return judgeDisks(spec, disks, question);
}

function judgeDisks(spec: JsonObject, disks: readonly Json[], question: ImageQuestion): ImageVerdict {
  const current = disks.filter(isBoot).map((disk) => textAt(disk, 'image'));
  const image = [...new Set(current)].join(', ');
  const target = gcpImage(question.images);
  if (target !== null && current.every((one) => isSameGcpImage(one, target.reference))) {
    return { type: 'current', image, version: target.version };
  }
  const strange = current.filter((one) => !isOurGcpImage(one, question.images));
  const foreign = strange.find((one) => !isInstallersCopy(one, question));
  if (foreign !== undefined && !question.isAdopted) return notOurs(image, whyNotOurs(foreign));
  if (strange.length > 0 && !question.isAdopted) return unknownImage(image, question);
  if (target === null) return noImage(image, question, 'images.gcp');
  const { reference: to, version } = target;
  const changed = disks.map((disk) => (isBoot(disk) ? { ...disk, image: to } : disk));
  return { type: 'change', image, to, version, spec: { ...spec, disks: changed } };
}

/** The first installers copied the image of the release to the project of the cluster, as later ones do for licences. */
const isInstallersCopy = (reference: string, question: ImageQuestion): boolean =>
  isNamedByInstaller(reference.slice(reference.lastIndexOf('/') + 1), question);

const whyNotOurs = (image: string): string =>
  image.includes('projects/redhat-marketplace-public/')
    ? `Image ${image} is a marketplace image that is billed for each machine.`
    : `Image ${image} is not in project ${OUR_PROJECT}.`;

function listBootImagePaths(spec: JsonObject): ReturnType<ImagePaths> {
  const disks = fieldAt(spec, 'disks');
  return isList(disks) ? disks.flatMap((disk, at) => (isBoot(disk) ? [['disks', String(at), 'image']] : [])) : [];
}

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

const isBoot = (disk: Json): disk is JsonObject => isJsonObject(disk) && disk['boot'] === true;

/** A full reference, which takes precedence over a family. */
function judgeTemplate(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const found = fieldAt(spec, 'image');
  if (found !== undefined && found !== null && typeof found !== 'string')
    return badTemplate('image', 'a reference to an image', found);
  const image = textAt(spec, 'image');
  const target = gcpImage(question.images);
  if (target !== null && isSameGcpImage(image, target.reference))
    return { type: 'current', image, version: target.version };
  const text = image || familyText(spec);
  if (!isOurGcpImage(image, question.images) && !question.isAdopted)
    return isInstallersCopy(image, question)
      ? unknownImage(image, question)
      : notOurs(text, explainForeignTemplateImage(image, text));
  if (target === null) return noImage(text, question, 'images.gcp');
  const { reference: to, version } = target;
  return { type: 'change', image: text, to, version, spec: { ...spec, image: to } };
}

function familyText(spec: JsonObject): string {
  const family = textAt(spec, 'imageFamily');
  return family === '' ? 'the default of the provider' : `imageFamily ${family}`;
}

const explainForeignTemplateImage = (image: string, text: string): string =>
  image === ''
    ? `The image is selected by ${text}, which is user-managed.`
    : `Image ${image} is not in a project that releases publish images in.`;
