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
import { type PlatformDef, judgeView } from './platform.ts';

const TEMPLATE_KIND = 'Metal3MachineTemplate';

export const baremetal = {
  type: 'baremetal',
  providerSpec: {
    kind: 'BareMetalMachineProviderSpec',
    apiVersions: ['baremetal.cluster.k8s.io/v1alpha1'],
    userData: ['userData', 'name'],
  },
  machineApi: judgeProviderSpec,
  clusterApi: { kind: TEMPLATE_KIND, rules: { v1beta1: judgeTemplate, v1beta2: judgeTemplate } },
} as const satisfies PlatformDef;

/** Writes the OS of the payload itself: such a spec has no image that could grow old. */
const INSTALL_COREOS = 'install_coreos';

/** What a spec can name by its address: each is written to disk in a way of its own, and none can stand for another. */
const formats = [
  ['metal', 'raw.gz'],
  ['metal', '4k.raw.gz'],
  ['openstack', 'qcow2.gz'],
] as const;

/** The address and checksum of an image, where hosts are deployed with one. */
function judgeProviderSpec(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const method = textAt(spec, 'customDeploy', 'method');
  if (method === INSTALL_COREOS) {
    const version = textAt(question.images, 'artifacts', 'metal', 'release');
    return { type: 'current', image: `the OS of the payload (customDeploy ${INSTALL_COREOS})`, version };
  }
  if (method !== '') return ofMethod(method, question);
  const url = textAt(spec, 'image', 'url');
  if (!URL.canParse(url)) return badSpec('image.url', 'the address of an image', fieldAt(spec, 'image', 'url'));
  return ofImage(spec, url, question);
}

function ofMethod(method: string, question: ImageQuestion): ImageVerdict {
  const image = `customDeploy ${method}`;
  if (question.isAdopted) return toCustomDeploy(image, question);
  return notOurs(image, `Hosts are deployed with method ${method}, not with an image.`);
}

function ofImage(spec: JsonObject, url: string, question: ImageQuestion): ImageVerdict {
  const artifact = sameFormat(url, question.images);
  const isPayloads = artifact !== null && new URL(url).origin === new URL(artifact.location).origin;
  if (artifact !== null && (isPayloads || question.isAdopted)) return toArtifact(spec, url, artifact);
  if (isCached(url) || question.isAdopted) return toCustomDeploy(url, question);
  return notOurs(url, `Image ${url} is on a server of the owner, and nobody knows when a newer one is there.`);
}

/** What the stream has in place of the file: it differs in nothing but the version. */
function sameFormat(url: string, images: JsonObject): Artifact | null {
  const file = new URL(url).pathname.split('/').at(-1) ?? '';
  const found = formats.map(([platform, format]) => readArtifact(images, platform, format));
  return found.find((artifact) => artifact !== null && file.endsWith(getFileSuffix(artifact))) ?? null;
}

/** Such as `-metal.x86_64.raw.gz`. */
const getFileSuffix = (artifact: Artifact): string => {
  const file = toFileName(artifact);
  return file.slice(file.lastIndexOf(artifact.version) + artifact.version.length);
};

/** The checksum is of the file as it lies there, and tells by its length of which kind it is. */
function toArtifact(
  spec: JsonObject,
  url: string,
  { location, sha256, uncompressedSha256, version }: Artifact,
): ImageVerdict {
  // Installers tell the checksum of the unpacked image in the address.
  const to = new URL(url).searchParams.has('sha256') ? `${location}?sha256=${uncompressedSha256 ?? sha256}` : location;
  if (url === to && textAt(spec, 'image', 'checksum') === sha256) return { type: 'current', image: url, version };
  const image = { ...objectAt(spec, 'image'), url: to, checksum: sha256 };
  return { type: 'change', image: url, to, version, spec: { ...spec, image } };
}

/** The provisioning service of old clusters unpacked the image of its settings, and served it. */
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

/** The address and checksum of an image, or the way the OS of the payload is written. Its format stays: v1beta2 calls it diskFormat. */
function judgeTemplate(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const method = textAt(spec, 'customDeploy', 'method');
  const url = textAt(spec, 'image', 'url');
  if (method === '' && !URL.canParse(url))
    return badTemplate('image.url', 'the address of an image', fieldAt(spec, 'image', 'url'));
  const view = {
    kind: TEMPLATE_KIND,
    rule: judgeProviderSpec,
    providerSpec: { customDeploy: { method }, image: objectAt(spec, 'image') },
    // Left out, the kind of checksum is md5.
    changed: (after: Parameters<typeof objectAt>[0]) => ({
      image: { ...objectAt(after, 'image'), checksumType: 'sha256' },
    }),
    imported: () => ({ customDeploy: { method: 'install_coreos' }, image: null }),
  };
  return judgeView(spec, view, question);
}
