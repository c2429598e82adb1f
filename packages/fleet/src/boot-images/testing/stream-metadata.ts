// Stream metadata as releases ship it: the same structure, with made-up images, fewer regions, and its pitfalls.
import { sha256 } from '@slipway/base/hash';
import type { JsonObject } from '../json.ts';
import type { Architecture } from '../verdict.ts';

const MIRROR = 'https://rhcos.mirror.example.com/art/storage/prod/streams';

export interface StreamVersions {
  /** Of the OS, such as 9.8.20260428-0. */
  readonly version: string;
  /** Of the images on Azure's marketplace: without a price, paid, and paid in EMEA. */
  readonly marketplace: { readonly free: string; readonly paid: string; readonly emea: string };
  /** Releases before 4.19 have images for Alibaba Cloud. */
  readonly hasAliyun: boolean;
}

/** As of a release before. */
export const olderStream: StreamVersions = {
  version: '9.6.20250523-0',
  marketplace: { free: '419.6.20250523', paid: '418.94.20250122', emea: '4.18.2025031114' },
  hasAliyun: true,
};
export const rhel9: StreamVersions = {
  version: '9.8.20260428-0',
  marketplace: { free: '9.8.20260428', paid: '9.6.2026030314', emea: '4.18.2026012111' },
  hasAliyun: true,
};
/** Its OS is not on the marketplace yet: its images there have the older OS. */
export const rhel10: StreamVersions = { ...rhel9, version: '10.2.20260423-0' };

export const sampleAmi = (version: string, architecture: Architecture, region: string): string =>
  `ami-0${sha256(version + architecture + region).slice(0, 16)}`;
export const sampleLicensedAmi = (version: string, region: string): string =>
  `ami-0${sha256(`licence${version}${region}`).slice(0, 16)}`;
export const sampleAliyunImage = (version: string, region: string): string =>
  `m-t4n${sha256(version + region).slice(0, 17)}`;

export const sampleLocation = (version: string, architecture: Architecture, end: string): string => {
  const minor = version.split('.').slice(0, 2).join('.');
  return `${MIRROR}/rhel-${minor}/builds/${version}/${architecture}/rhcos-${version}-${end}`;
};
export const sampleSha256 = (location: string): string => sha256(location);
export const sampleUncompressedSha256 = (location: string): string => sha256(`${location} unpacked`);

function disk(version: string, architecture: Architecture, end: string): JsonObject {
  const location = sampleLocation(version, architecture, end);
  const unpacked = end.endsWith('.gz') ? { 'uncompressed-sha256': sampleUncompressedSha256(location) } : {};
  return { disk: { location, sha256: sampleSha256(location), ...unpacked } };
}

/** Artifacts of each architecture: platform, format, end of the name of the file. */
const everywhere = [
  ['metal', 'raw.gz', 'metal', 'raw.gz'],
  ['metal', '4k.raw.gz', 'metal4k', 'raw.gz'],
  ['openstack', 'qcow2.gz', 'openstack', 'qcow2.gz'],
  ['qemu', 'qcow2.gz', 'qemu', 'qcow2.gz'],
] as const;
const artifacts: Record<Architecture, readonly (readonly [string, string, string, string])[]> = {
  x86_64: [
    ...everywhere,
    ['vmware', 'ova', 'vmware', 'ova'],
    ['nutanix', 'qcow2', 'nutanix', 'qcow2'],
    ['ibmcloud', 'qcow2.gz', 'ibmcloud', 'qcow2.gz'],
    ['azure', 'vhd.gz', 'azure', 'vhd.gz'],
    ['azurestack', 'vhd.gz', 'azurestack', 'vhd.gz'],
    ['aliyun', 'qcow2.gz', 'aliyun', 'qcow2.gz'],
  ],
  aarch64: [...everywhere, ['azure', 'vhd.gz', 'azure', 'vhd.gz']],
  ppc64le: [...everywhere, ['powervs', 'ova.gz', 'powervs', 'ova.gz']],
  s390x: [...everywhere, ['ibmcloud', 'qcow2.gz', 'ibmcloud', 'qcow2.gz']],
};

function buildArtifacts(version: string, architecture: Architecture): JsonObject {
  const found: Record<string, { release: string; formats: Record<string, JsonObject> }> = {};
  for (const [platform, format, name, suffix] of artifacts[architecture]) {
    found[platform] ??= { release: version, formats: {} };
    found[platform].formats[format] = disk(version, architecture, `${name}.${architecture}.${suffix}`);
  }
  return found;
}

const regions = ['us-east-1', 'eu-central-1'];

function buildImages({ version, hasAliyun }: StreamVersions, architecture: Architecture): JsonObject {
  if (architecture === 'ppc64le') return { powervs: { regions: buckets(version) } };
  if (architecture === 's390x') return {};
  const aws = regions.map((region) => [region, { release: version, image: sampleAmi(version, architecture, region) }]);
  const name = `rhcos-${version.replaceAll('.', '-')}-gcp-${architecture.replaceAll('_', '-')}`;
  const aliyun = { 'ap-southeast-1': { release: version, image: sampleAliyunImage(version, 'ap-southeast-1') } };
  return {
    aws: { regions: Object.fromEntries(aws) },
    gcp: { release: version, project: 'rhcos-cloud', name },
    ...(hasAliyun && architecture === 'x86_64' && { aliyun: { regions: aliyun } }),
  };
}

const buckets = (version: string): JsonObject =>
  Object.fromEntries(
    ['us-south', 'eu-de'].map((region) => {
      const object = `rhcos-${version.replaceAll('.', '-')}-ppc64le-powervs.ova.gz`;
      const bucket = `rhcos-powervs-images-${region}`;
      const url = `https://s3.${region}.cloud-object-storage.appdomain.cloud/${bucket}/${object}`;
      return [region, { release: version, object, bucket, url }];
    }),
  );

function buildExtensions({ version, marketplace }: StreamVersions, architecture: Architecture): JsonObject {
  const { free, paid, emea } = marketplace;
  const image = (publisher: string, offer: string, sku: string, of: string) => ({ publisher, offer, sku, version: of });
  if (architecture === 'aarch64') {
    const only = { hyperVGen2: image('azureopenshift', 'aro4', 'aro_422-arm', free) };
    return { marketplace: { azure: { 'no-purchase-plan': only } } };
  }
  const plans = ['ocp', 'opp', 'oke'].flatMap((product) => {
    const offer = `rh-${product}-worker`;
    const plan = (publisher: string, of: string) => ({
      hyperVGen1: image(publisher, offer, `${offer}-gen1`, of),
      hyperVGen2: image(publisher, offer, offer, of),
    });
    return [
      [product, plan('redhat', paid)],
      [`${product}-emea`, plan('redhat-limited', emea)],
    ];
  });
  const noPlan = {
    hyperVGen1: image('azureopenshift', 'aro4', 'aro_422', free),
    hyperVGen2: image('azureopenshift', 'aro4', 'aro_422-v2', free),
  };
  const licensed = regions.map((region) => [region, { release: version, image: sampleLicensedAmi(version, region) }]);
  return {
    'aws-winli': { regions: Object.fromEntries(licensed) },
    marketplace: { azure: { 'no-purchase-plan': noPlan, ...Object.fromEntries(plans) } },
  };
}

function architectureMetadata(versions: StreamVersions, architecture: Architecture): JsonObject {
  const images = buildImages(versions, architecture);
  const hasExtensions = architecture === 'x86_64' || architecture === 'aarch64';
  return {
    artifacts: buildArtifacts(versions.version, architecture),
    images,
    ...(hasExtensions && { 'rhel-coreos-extensions': buildExtensions(versions, architecture) }),
  };
}

/** `stream` in it is stale, as releases have it. */
export const streamMetadata = (versions: StreamVersions): JsonObject => ({
  stream: 'rhcos-4.16',
  metadata: { 'last-modified': '2026-04-28T22:11:54Z', generator: 'plume cosa2stream 211dee6' },
  architectures: {
    aarch64: architectureMetadata(versions, 'aarch64'),
    ppc64le: architectureMetadata(versions, 'ppc64le'),
    s390x: architectureMetadata(versions, 's390x'),
    x86_64: architectureMetadata(versions, 'x86_64'),
  },
});

/** What a release has for an architecture. */
export const imagesFor = (versions: StreamVersions, architecture: Architecture): JsonObject =>
  architectureMetadata(versions, architecture);

/** `data` of ConfigMap coreos-bootimages, without a stamp. The default is rhel-9. */
export const bootImagesData = (
  streams: { readonly 'rhel-9': StreamVersions } & Readonly<Record<string, StreamVersions>> = {
    'rhel-9': rhel9,
    'rhel-10': rhel10,
  },
  releaseVersion = '4.22.0',
): Record<string, string> => ({
  releaseVersion,
  stream: JSON.stringify(streamMetadata(streams['rhel-9'])),
  streams: JSON.stringify(
    Object.fromEntries(Object.entries(streams).map(([name, versions]) => [name, streamMetadata(versions)])),
  ),
});
