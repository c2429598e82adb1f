import type { ImageCase } from './image-case.ts';
import type { JsonObject } from '../../json.ts';
import {
  vsphereSpec,
  openstackSpec,
  nutanixSpec,
  ibmcloudSpec,
  powervsSpec,
  libvirtSpec,
  ovirtSpec,
} from '../provider-specs.ts';
import { rhel9 } from '../stream-metadata.ts';
import type { Architecture, Platform } from '../../verdict.ts';

const { version } = rhel9;

/** Platforms where users import images: with the installer's name, with ours, with another, and with none. */
interface Imported {
  readonly platform: Platform;
  readonly architecture?: Architecture;
  readonly spec: (name: string) => JsonObject;
  readonly installers: string;
  readonly imported: string;
  readonly strange: string;
}
const imported: readonly Imported[] = [
  {
    platform: 'vsphere',
    spec: (template) => ({ ...vsphereSpec, template }),
    installers: 'demo-x7k2p-rhcos-fd1',
    imported: `demo-x7k2p-rhcos-fd1-${version}`,
    strange: '/dc1/vm/golden/rhcos',
  },
  {
    platform: 'openstack',
    spec: (image) => ({ ...openstackSpec, image }),
    installers: 'demo-x7k2p-rhcos',
    imported: `demo-x7k2p-rhcos-${version}`,
    strange: 'golden',
  },
  {
    platform: 'nutanix',
    spec: (name) => ({ ...nutanixSpec, image: { name, type: 'name' } }),
    installers: 'demo-x7k2p-rhcos',
    imported: `demo-x7k2p-rhcos-${version}`,
    strange: 'golden',
  },
  {
    platform: 'ibmcloud',
    spec: (image) => ({ ...ibmcloudSpec, image }),
    installers: 'demo-x7k2p-rhcos',
    imported: 'demo-x7k2p-rhcos-9-8-20260428-0',
    strange: 'golden',
  },
  {
    platform: 'powervs',
    architecture: 'ppc64le',
    spec: (name) => ({ ...powervsSpec, image: { name, type: 'Name' } }),
    installers: 'rhcos-demo-x7k2p',
    imported: `rhcos-demo-x7k2p-${version}`,
    strange: 'golden',
  },
  {
    platform: 'libvirt',
    spec: (baseVolumeID) => ({ ...libvirtSpec, volume: { baseVolumeID, poolName: 'demo-x7k2p', volumeName: '' } }),
    installers: 'demo-x7k2p-base',
    imported: `demo-x7k2p-base-${version}`,
    strange: 'golden',
  },
  {
    platform: 'ovirt',
    spec: (template_name) => ({ ...ovirtSpec, template_name }),
    installers: 'demo-x7k2p-rhcos',
    imported: `demo-x7k2p-rhcos-${version}`,
    strange: 'golden',
  },
];

function buildCases({
  platform,
  architecture = 'x86_64',
  spec,
  installers,
  imported: to,
  strange,
}: Imported): ImageCase[] {
  const base = { platform, architecture };
  return [
    { ...base, name: platform, spec: spec(installers), verdict: 'manual', to },
    { ...base, name: `${platform}-imported`, spec: spec(to), verdict: 'current', version },
    { ...base, name: `${platform}-of-its-owner`, spec: spec(strange), verdict: 'theirs' },
    { ...base, name: `${platform}-without-an-image`, spec: spec(''), verdict: 'failed', code: 'SLW_BOOT_IMAGES_SPEC' },
  ];
}

const rootVolume = (sourceUUID: string): JsonObject => ({
  ...openstackSpec,
  image: 'ignored-by-the-provider',
  rootVolume: { availabilityZone: 'nova', diskSize: 100, sourceUUID, volumeType: 'ssd' },
});
export const importedCases: readonly ImageCase[] = [
  ...imported.flatMap(buildCases),
  {
    name: 'openstack-root-volume',
    platform: 'openstack',
    spec: rootVolume('demo-x7k2p-rhcos'),
    verdict: 'manual',
    to: `demo-x7k2p-rhcos-${version}`,
  },
  {
    name: 'openstack-root-volume-imported',
    platform: 'openstack',
    spec: rootVolume(`demo-x7k2p-rhcos-${version}`),
    verdict: 'current',
    version,
  },
  {
    name: 'openstack-root-volume-without-a-source',
    platform: 'openstack',
    spec: rootVolume(''),
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_SPEC',
  },
  {
    name: 'nutanix-by-uuid',
    platform: 'nutanix',
    spec: { ...nutanixSpec, image: { type: 'uuid', uuid: '7f3a2b1c-0000-4000-8000-000000000001' } },
    verdict: 'theirs',
  },
  {
    name: 'nutanix-by-uuid-adopted',
    platform: 'nutanix',
    isAdopted: true,
    spec: { ...nutanixSpec, image: { type: 'uuid', uuid: '7f3a2b1c-0000-4000-8000-000000000001' } },
    verdict: 'manual',
    to: `demo-x7k2p-rhcos-${version}`,
  },
  {
    name: 'vsphere-by-its-path',
    platform: 'vsphere',
    spec: { ...vsphereSpec, template: '/dc1/vm/demo-x7k2p/demo-x7k2p-rhcos-fd1' },
    verdict: 'manual',
    to: `/dc1/vm/demo-x7k2p/demo-x7k2p-rhcos-fd1-${version}`,
  },
  {
    name: 'powervs-by-id-adopted',
    platform: 'powervs',
    architecture: 'ppc64le',
    isAdopted: true,
    spec: { ...powervsSpec, image: { id: '7f3a2b1c-0000-4000-8000-000000000001', type: 'ID' } },
    verdict: 'manual',
    to: `rhcos-demo-x7k2p-${version}`,
  },
  {
    name: 'powervs-by-a-pattern',
    platform: 'powervs',
    architecture: 'ppc64le',
    spec: { ...powervsSpec, image: { regex: '^rhcos-.*$', type: 'RegEx' } },
    verdict: 'theirs',
  },
  {
    name: 'vsphere-on-arm',
    platform: 'vsphere',
    architecture: 'aarch64',
    spec: vsphereSpec,
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_ARCH',
  },
];
