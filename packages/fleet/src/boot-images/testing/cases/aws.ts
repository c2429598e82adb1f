import type { ImageCase } from './image-case.ts';
import { awsSpec } from '../provider-specs.ts';
import { sampleAmi, sampleLicensedAmi, olderStream, rhel9 } from '../stream-metadata.ts';

const { version } = rhel9;
const old = olderStream.version;

const awsImage = sampleAmi(version, 'x86_64', 'us-east-1');
const inNoRegion = { availabilityZone: 'mx-central-1a', region: 'mx-central-1' };
export const awsCases: readonly ImageCase[] = [
  {
    name: 'aws',
    platform: 'aws',
    spec: awsSpec,
    verdict: 'change',
    to: awsImage,
    version,
    after: { ...awsSpec, ami: { id: awsImage } },
  },
  {
    name: 'aws-arm-of-the-legacy-group',
    platform: 'aws',
    architecture: 'aarch64',
    spec: {
      ...awsSpec,
      apiVersion: 'awsproviderconfig.openshift.io/v1beta1',
      ami: { id: sampleAmi(old, 'aarch64', 'us-east-1') },
    },
    verdict: 'change',
    to: sampleAmi(version, 'aarch64', 'us-east-1'),
    version,
    after: {
      ...awsSpec,
      apiVersion: 'awsproviderconfig.openshift.io/v1beta1',
      ami: { id: sampleAmi(version, 'aarch64', 'us-east-1') },
    },
  },
  {
    name: 'aws-unknown',
    platform: 'aws',
    spec: { ...awsSpec, ami: { id: 'ami-0123456789abcdef0' } },
    verdict: 'theirs',
  },
  {
    name: 'aws-unknown-adopted',
    platform: 'aws',
    isAdopted: true,
    spec: { ...awsSpec, ami: { id: 'ami-0123456789abcdef0' } },
    verdict: 'change',
    to: awsImage,
    version,
    after: { ...awsSpec, ami: { id: awsImage } },
  },
  {
    name: 'aws-copied-by-the-installer',
    platform: 'aws',
    spec: { ...awsSpec, ami: { filters: [{ name: 'tag:Name', values: ['demo-x7k2p-ami-us-east-1'] }] } },
    verdict: 'theirs',
  },
  {
    name: 'aws-with-a-licence-of-windows',
    platform: 'aws',
    spec: { ...awsSpec, ami: { id: sampleLicensedAmi(version, 'us-east-1') } },
    verdict: 'theirs',
  },
  {
    name: 'aws-in-a-region-without-images',
    platform: 'aws',
    spec: { ...awsSpec, placement: inNoRegion },
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_REGION',
  },
  {
    name: 'aws-in-a-region-named-constructor',
    platform: 'aws',
    spec: { ...awsSpec, placement: { region: 'constructor' } },
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_REGION',
  },
  {
    name: 'aws-on-z',
    platform: 'aws',
    architecture: 's390x',
    spec: awsSpec,
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_ARCH',
  },
  {
    name: 'aws-without-a-region',
    platform: 'aws',
    spec: { ...awsSpec, placement: {} },
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_SPEC',
  },
  {
    name: 'aws-without-an-image',
    platform: 'aws',
    spec: { ...awsSpec, ami: {} },
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_SPEC',
  },
];
