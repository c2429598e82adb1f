import type { ImageCase } from './image-case.ts';
import { gcpSpec } from '../provider-specs.ts';
import { olderStream, rhel9 } from '../stream-metadata.ts';
import type { JsonObject } from '../../json.ts';

const { version } = rhel9;
const old = olderStream.version;

const gcpDisk = (spec: JsonObject, image: string): JsonObject => {
  const [boot, ...others] = spec['disks'] as readonly JsonObject[];
  return { ...spec, disks: [{ ...boot, image }, ...others] };
};
const gcpImage = (of: string, architecture = 'x86-64'): string =>
  `projects/rhcos-cloud/global/images/rhcos-${of.replaceAll('.', '-')}-gcp-${architecture}`;

export const gcpCases: readonly ImageCase[] = [
  {
    name: 'gcp',
    platform: 'gcp',
    spec: gcpSpec,
    verdict: 'change',
    to: gcpImage(version),
    version,
    after: gcpDisk(gcpSpec, gcpImage(version)),
  },
  {
    name: 'gcp-arm-of-the-legacy-group',
    platform: 'gcp',
    architecture: 'aarch64',
    spec: { ...gcpDisk(gcpSpec, gcpImage(old, 'aarch64')), apiVersion: 'gcpprovider.openshift.io/v1beta1' },
    verdict: 'change',
    to: gcpImage(version, 'aarch64'),
    version,
    after: {
      ...gcpDisk(gcpSpec, gcpImage(version, 'aarch64')),
      apiVersion: 'gcpprovider.openshift.io/v1beta1',
    },
  },
  {
    name: 'gcp-current-by-its-whole-address',
    platform: 'gcp',
    spec: gcpDisk(gcpSpec, `https://www.googleapis.com/compute/v1/${gcpImage(version)}`),
    verdict: 'current',
    version,
  },
  {
    name: 'gcp-of-the-marketplace',
    platform: 'gcp',
    spec: gcpDisk(
      gcpSpec,
      'projects/redhat-marketplace-public/global/images/redhat-coreos-ocp-413-x86-64-202305021736',
    ),
    verdict: 'theirs',
  },
  {
    name: 'gcp-copied-by-the-installer',
    platform: 'gcp',
    spec: gcpDisk(gcpSpec, 'demo-x7k2p-rhcos-image'),
    verdict: 'theirs',
  },
  {
    name: 'gcp-of-another-project',
    platform: 'gcp',
    spec: gcpDisk(gcpSpec, 'projects/demo-project/global/images/golden'),
    verdict: 'theirs',
  },
  {
    name: 'gcp-of-another-project-adopted',
    platform: 'gcp',
    isAdopted: true,
    spec: gcpDisk(gcpSpec, 'projects/demo-project/global/images/golden'),
    verdict: 'change',
    to: gcpImage(version),
    version,
    after: gcpDisk(gcpSpec, gcpImage(version)),
  },
  {
    name: 'gcp-on-power',
    platform: 'gcp',
    architecture: 'ppc64le',
    spec: gcpSpec,
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_ARCH',
  },
  {
    name: 'gcp-without-a-boot-disk',
    platform: 'gcp',
    spec: { ...gcpSpec, disks: [] },
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_SPEC',
  },
];
