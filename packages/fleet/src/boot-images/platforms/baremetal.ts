import { fieldAt, type JsonObject, objectAt, textAt } from '../json.ts';
import {
  type Artifact,
  badSpec,
  badTemplate,
  type ImageQuestion,
  type ImageVerdict,
  noImage,
  notOurs,
} from '../verdict.ts';
import { readArtifact, toFileName, useImage } from './import.ts';
import { type PlatformDef, judgeView, imageFields } from './platform.ts';

const TEMPLATE_KIND = 'Metal3MachineTemplate';

export const baremetal = {
  type: 'baremetal',
  providerSpec: {
    kind: 'BareMetalMachineProviderSpec',
    imagePaths: imageFields('customDeploy', 'image'),
    apiVersions: ['baremetal.cluster.k8s.io/v1alpha1'],
    userData: ['userData', 'name'],
  },
  machineApi: judgeProviderSpec,
  clusterApi: {
    kind: TEMPLATE_KIND,
    imagePaths: imageFields('customDeploy', 'image'),
    rules: { v1beta1: judgeTemplate, v1beta2: judgeTemplate },
  },
} as const satisfies PlatformDef;

/** Writes the OS of the payload: such a spec has no image that could become outdated. */
const INSTALL_COREOS = 'install_coreos';

/** The formats that a spec can reference by URL. Each is written to disk differently, so none can replace another. */
const formats = [
  ['metal', 'raw.gz'],
  ['metal', '4k.raw.gz'],
  ['openstack', 'qcow2.gz'],
] as const;

/** The URL and checksum of an image, for hosts that are deployed with one. */
function judgeProviderSpec(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const method = textAt(spec, 'customDeploy', 'method');
  if (method === INSTALL_COREOS) {
    const version = textAt(question.images, 'artifacts', 'metal', 'release');
    return { type: 'current', image: `the OS of the payload (customDeploy ${INSTALL_COREOS})`, version };
  }
  if (method !== '') return ofMethod(method, question);
  const url = textAt(spec, 'image', 'url');
  if (!URL.canParse(url)) return badSpec('image.url', 'the URL of an image', fieldAt(spec, 'image', 'url'));
  return ofImage(spec, url, question);
}

function ofMethod(method: string, question: ImageQuestion): ImageVerdict {
  const image = `customDeploy ${method}`;
  if (question.isAdopted) return toCustomDeploy(image, question);
  return notOurs(image, `Hosts are deployed by method ${method}, not from an image.`);
}

function ofImage(spec: JsonObject, url: string, question: ImageQuestion): ImageVerdict {
  const artifact = sameFormat(url, question.images);
  const isPayloads = artifact !== null && new URL(url).origin === new URL(artifact.location).origin;
  if (artifact !== null && (isPayloads || question.isAdopted)) return toArtifact(spec, url, artifact);
  if (isCached(url) || question.isAdopted) return toCustomDeploy(url, question);
  return notOurs(
    url,
    `Image ${url} is on a user-managed server, and Slipway cannot know when that server has a newer one.`,
  );
}

/** The stream's replacement for the file: only the version differs. */
function sameFormat(url: string, images: JsonObject): Artifact | null {
  const file = new URL(url).pathname.split('/').at(-1) ?? '';
  const found = formats.map(([platform, format]) => readArtifact(images, platform, format));
  return found.find((artifact) => artifact !== null && file.endsWith(getFileSuffix(artifact))) ?? null;
}

/** For example `-metal.x86_64.raw.gz`. */
const getFileSuffix = (artifact: Artifact): string => {
  const file = toFileName(artifact);
  return file.slice(file.lastIndexOf(artifact.version) + artifact.version.length);
};

/** The checksum covers the compressed file; its length identifies the algorithm. */
function toArtifact(
  spec: JsonObject,
  url: string,
  { location, sha256, uncompressedSha256, version }: Artifact,
): ImageVerdict {
  // Installers put the checksum of the unpacked image into the URL.
  const to = new URL(url).searchParams.has('sha256') ? `${location}?sha256=${uncompressedSha256 ?? sha256}` : location;
  if (url === to && textAt(spec, 'image', 'checksum') === sha256) return { type: 'current', image: url, version };
  const image = { ...objectAt(spec, 'image'), url: to, checksum: sha256 };
  return { type: 'change', image: url, to, version, spec: { ...spec, image } };
}

/** The provisioning service of old clusters unpacked the image from its settings, and served it. */
const isCached = (url: string): boolean => /^http:\/\/[^/]+:6180\/images\//.test(url);

function toCustomDeploy(image: string, question: ImageQuestion): ImageVerdict {
  const artifact = readArtifact(question.images, 'metal', 'raw.gz');
  if (artifact === null) return noImage(image, question, 'artifacts.metal.formats["raw.gz"]');
  const value = { customDeploy: { method: INSTALL_COREOS }, image: { url: '', checksum: '' } };
  return {
    type: 'manual',
    image,
    to: `the OS of the payload (customDeploy ${INSTALL_COREOS})`,
    artifact,
    commands: [useImage(question.resource, value)],
  };
}

/** The URL and checksum of an image, or the deploy method. The format stays: v1beta2 names it diskFormat. */
function judgeTemplate(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const method = textAt(spec, 'customDeploy', 'method');
  const url = textAt(spec, 'image', 'url');
  if (method === '' && !URL.canParse(url))
    return badTemplate('image.url', 'the URL of an image', fieldAt(spec, 'image', 'url'));
  const view = {
    kind: TEMPLATE_KIND,
    rule: judgeProviderSpec,
    providerSpec: { customDeploy: { method }, image: objectAt(spec, 'image') },
    // The default checksum type is md5.
    changed: (after: Parameters<typeof objectAt>[0]) => ({
      image: { ...objectAt(after, 'image'), checksumType: 'sha256' },
    }),
    imported: () => ({ customDeploy: { method: 'install_coreos' }, image: null }),
  };
  return judgeView(spec, view, question);
}
