import type { ImageCase } from './image-case.ts';
import { baremetalSpec, baremetalImageSpec } from '../provider-specs.ts';
import { sampleLocation, olderStream, rhel9, sampleSha256, sampleUncompressedSha256 } from '../stream-metadata.ts';
import type { JsonObject } from '../../json.ts';

const { version } = rhel9;
const old = olderStream.version;

const metalLocation = sampleLocation(version, 'x86_64', 'metal.x86_64.raw.gz');
const openstackLocation = sampleLocation(version, 'x86_64', 'openstack.x86_64.qcow2.gz');
const ownMirror = `https://mirror.demo.example.com/rhcos-${old}-metal.x86_64.raw.gz`;
const metalImage = (url: string, checksum: string): JsonObject => ({ ...baremetalImageSpec, image: { checksum, url } });
export const baremetalCases: readonly ImageCase[] = [
  { name: 'baremetal', platform: 'baremetal', spec: baremetalSpec, verdict: 'current', version },
  {
    name: 'baremetal-image',
    platform: 'baremetal',
    spec: baremetalImageSpec,
    verdict: 'change',
    to: metalLocation,
    version,
    after: metalImage(metalLocation, sampleSha256(metalLocation)),
  },
  {
    name: 'baremetal-image-with-its-checksum-in-the-address',
    platform: 'baremetal',
    spec: metalImage(`${sampleLocation(old, 'x86_64', 'openstack.x86_64.qcow2.gz')}?sha256=1234`, '1234'),
    verdict: 'change',
    version,
    after: metalImage(
      `${openstackLocation}?sha256=${sampleUncompressedSha256(openstackLocation)}`,
      sampleSha256(openstackLocation),
    ),
  },
  {
    name: 'baremetal-image-of-the-provisioning-service',
    platform: 'baremetal',
    spec: metalImage(
      'http://172.22.0.3:6180/images/rhcos-48.84.202109241901-0-openstack.x86_64.qcow2/rhcos-48.84.202109241901-0-compressed.x86_64.qcow2',
      'http://172.22.0.3:6180/images/rhcos-48.84.202109241901-0-openstack.x86_64.qcow2/rhcos-48.84.202109241901-0-compressed.x86_64.qcow2.md5sum',
    ),
    verdict: 'manual',
    to: 'the OS of the payload (customDeploy install_coreos)',
  },
  {
    name: 'baremetal-image-of-its-owner',
    platform: 'baremetal',
    spec: metalImage(
      'https://images.demo.example.com/golden.qcow2',
      'https://images.demo.example.com/golden.qcow2.sha256sum',
    ),
    verdict: 'theirs',
  },
  {
    name: 'baremetal-image-on-a-mirror-of-its-owner',
    platform: 'baremetal',
    spec: metalImage(ownMirror, '1234'),
    verdict: 'theirs',
  },
  {
    name: 'baremetal-image-on-a-mirror-of-its-owner-adopted',
    platform: 'baremetal',
    isAdopted: true,
    spec: metalImage(ownMirror, '1234'),
    verdict: 'change',
    version,
    after: metalImage(metalLocation, sampleSha256(metalLocation)),
  },
  {
    name: 'baremetal-image-unpacked-beside-the-payloads',
    platform: 'baremetal',
    spec: metalImage(sampleLocation(old, 'x86_64', 'metal.x86_64.raw'), '1234'),
    verdict: 'theirs',
  },
  {
    name: 'baremetal-with-a-method-of-its-owner',
    platform: 'baremetal',
    spec: { ...baremetalSpec, customDeploy: { method: 'install_other' } },
    verdict: 'theirs',
  },
  {
    name: 'baremetal-without-an-image',
    platform: 'baremetal',
    spec: metalImage('', ''),
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_SPEC',
  },
];
