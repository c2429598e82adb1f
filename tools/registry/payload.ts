import type { RegistryAccess } from './registry.ts';
import { pushImage, type LayerSpec } from './image.ts';

/** One OS of a release: the labels and tags of its images. */
export interface StreamSpec {
  /** Of the OS image in image-references, such as rhel-coreos; its extensions have the suffix `-extensions`. */
  tag: string;
  /** The stream, such as rhel-9: the label io.openshift.os.streamclass. */
  name: string;
  /** Of the OS, such as 9.6.20251201-1. */
  version: string;
  lifecycle?: { state: 'deprecated' | 'blocked'; successor?: string; message?: string };
  /** Only the OS image is in the release. */
  withoutExtensions?: boolean;
  /** Like images that predate streams: no label names the stream. */
  unlabelled?: boolean;
  /** As in some nightly builds: only the tag's name shows that it is an OS. */
  withoutAnnotations?: boolean;
  /** Adds this many incompressible bytes to the OS image. */
  randomBytes?: number;
}

export interface PayloadSpec {
  /** Of the platform, such as 4.22.0 or 4.22.0-okd-scos.1. */
  version: string;
  streams: readonly StreamSpec[];
  /** Tags unrelated to an OS. By default some that are in no registry, so that requests for them are detected. */
  components?: Readonly<Record<string, string>>;
}

/** image-references as in a release: an ImageStream of image.openshift.io/v1. */
export interface ImageReferences {
  kind: 'ImageStream';
  apiVersion: 'image.openshift.io/v1';
  metadata: { name: string };
  spec: { lookupPolicy: { local: false }; tags: ImageTag[] };
}

export interface ImageTag {
  name: string;
  annotations?: Record<string, string>;
  from: { kind: 'DockerImage'; name: string };
  generation: null;
  importPolicy: Record<string, never>;
  referencePolicy: { type: '' };
}

export interface Payload {
  /** By digest. */
  releaseImage: string;
  imageReferences: ImageReferences;
  /** By the name of the stream; of two with one name, the later. */
  os: ReadonlyMap<string, { osImage: string; osExtensionsImage: string | undefined }>;
}

const OS_SOURCE = 'https://github.com/openshift/os';
const COMMIT = '2b6ac09e306e4b2fa293a887ef88196bfe6c3143';

/** Builds a release with everything related to operating systems, in `openshift/…` of the registry. */
export async function pushPayload(registry: RegistryAccess, spec: PayloadSpec): Promise<Payload> {
  const { version, streams, components = nowhere(registry) } = spec;
  const os = new Map<string, { osImage: string; osExtensionsImage: string | undefined }>();
  const tags: ImageTag[] = [];
  for (const stream of streams) {
    const osImage = await pushOs(registry, stream);
    tags.push(buildTag(stream.tag, osImage, osAnnotations(stream)));
    const osExtensionsImage = stream.withoutExtensions === true ? undefined : await pushExtensions(registry, stream);
    if (osExtensionsImage !== undefined) {
      tags.push(buildTag(`${stream.tag}-extensions`, osExtensionsImage, extensionsAnnotations(stream)));
    }
    os.set(stream.name, { osImage, osExtensionsImage });
  }
  const imageReferences: ImageReferences = {
    kind: 'ImageStream',
    apiVersion: 'image.openshift.io/v1',
    metadata: { name: version },
    spec: {
      lookupPolicy: { local: false },
      tags: [...tags, ...Object.entries(components).map(componentTag)].sort(byName),
    },
  };
  const releaseImage = await pushRelease(registry, version, imageReferences);
  return { releaseImage, imageReferences, os };
}

const byName = (a: ImageTag, b: ImageTag) => (a.name < b.name ? -1 : Number(a.name > b.name));

const pushOs = (registry: RegistryAccess, stream: StreamSpec): Promise<string> =>
  pushImage(registry, `openshift/${stream.tag}`, {
    labels: {
      'containers.bootc': '1',
      'ostree.linux': 'true',
      'io.openshift.metalayer': 'true',
      'io.openshift.build.versions': `machine-os=${stream.version}`,
      'org.opencontainers.image.version': stream.version,
      'org.opencontainers.image.source': OS_SOURCE,
      ...buildClassLabels(stream),
    },
    layers: [
      layer({ 'usr/lib/os-release': `OSTREE_VERSION='${stream.version}'\n`, 'usr/lib/stream': `${stream.name}\n` }),
      ...(stream.randomBytes === undefined
        ? []
        : [{ files: [{ path: `usr/lib/modules-${stream.version}`, randomBytes: stream.randomBytes }] }]),
    ],
  });

const pushExtensions = (registry: RegistryAccess, stream: StreamSpec): Promise<string> =>
  pushImage(registry, `openshift/${stream.tag}-extensions`, {
    labels: {
      'io.openshift.os.extensions': 'true',
      'org.opencontainers.image.version': stream.version,
      'org.opencontainers.image.source': OS_SOURCE,
      ...buildClassLabels(stream),
    },
    layers: [layer({ 'usr/share/rpm-ostree/extensions/version': `${stream.version} ${stream.name}\n` })],
  });

const buildClassLabels = ({ name, unlabelled = false }: StreamSpec): Record<string, string> =>
  unlabelled ? {} : { 'io.openshift.os.streamclass': name };

function pushRelease(registry: RegistryAccess, version: string, references: ImageReferences): Promise<string> {
  const metadata = { kind: 'cincinnati-metadata-v0', version, previous: [] };
  return pushImage(registry, 'openshift/release', {
    labels: { 'io.openshift.release': version },
    tag: version,
    layers: [
      layer({ 'usr/bin/cluster-version-operator': 'of no use here\n' }),
      layer({
        'release-manifests/0000_50_cluster.yaml': 'kind: Namespace\n',
        'release-manifests/image-references': JSON.stringify(references, null, 2),
        'release-manifests/release-metadata': JSON.stringify(metadata),
      }),
    ],
  });
}

const layer = (files: Readonly<Record<string, string>>): LayerSpec => ({
  files: Object.entries(files).map(([path, contents]) => ({ path, contents })),
});

function osAnnotations(stream: StreamSpec): Record<string, string> | undefined {
  if (stream.withoutAnnotations === true) return undefined;
  const { lifecycle } = stream;
  return {
    ...built(OS_SOURCE),
    'io.openshift.build.version-display-names': 'machine-os=Red Hat Enterprise Linux CoreOS',
    'io.openshift.build.versions': `machine-os=${stream.version}`,
    ...buildClassLabels(stream),
    ...(lifecycle === undefined ? {} : { 'io.openshift.os.stream-lifecycle': lifecycle.state }),
    ...(lifecycle?.successor === undefined ? {} : { 'io.openshift.os.stream-successor': lifecycle.successor }),
    ...(lifecycle?.message === undefined ? {} : { 'io.openshift.os.stream-message': lifecycle.message }),
  };
}

const extensionsAnnotations = ({ withoutAnnotations = false }: StreamSpec): Record<string, string> | undefined =>
  withoutAnnotations ? undefined : built(OS_SOURCE);

const nowhere = ({ host }: RegistryAccess): Record<string, string> =>
  Object.fromEntries(
    ['cli', 'installer', 'machine-config-operator'].map((name, index) => [
      name,
      `${host}/openshift/${name}@sha256:${String(index).repeat(64)}`,
    ]),
  );

const componentTag = ([name, image]: [string, string]): ImageTag =>
  buildTag(name, image, built(`https://github.com/openshift/${name}`));

const built = (source: string): Record<string, string> => ({
  'io.openshift.build.commit.id': COMMIT,
  'io.openshift.build.commit.ref': '',
  'io.openshift.build.source-location': source,
});

function buildTag(name: string, image: string, annotations: Record<string, string> | undefined): ImageTag {
  return {
    name,
    ...(annotations === undefined ? {} : { annotations }),
    from: { kind: 'DockerImage', name: image },
    generation: null,
    importPolicy: {},
    referencePolicy: { type: '' },
  };
}
