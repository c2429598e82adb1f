// Platforms where the user must import the image first: with the installer's name, with ours, and with an opaque
// reference.
import type { JsonObject } from '../../json.ts';
import { rhel9 } from '../stream-metadata.ts';
import type { TemplateCase } from './template-case.ts';

const { version } = rhel9;

type Imported = Pick<TemplateCase, 'kind' | 'apiVersion' | 'architecture'> & {
  /** The prefix of case names. */
  readonly short: string;
  readonly around: JsonObject;
  /** The fields for an image with this name. */
  readonly named: (name: string) => JsonObject;
  readonly installers: string;
  readonly imported: string;
  /** These do not identify the owner of the image. */
  readonly untold: readonly JsonObject[];
  /** The target of an adopted one. */
  readonly adopted: string;
};

const vsphere = {
  around: {
    cloneMode: 'linkedClone',
    datacenter: 'dc1',
    datastore: '/dc1/datastore/ds1',
    diskGiB: 120,
    folder: '/dc1/vm/demo-x7k2p',
    memoryMiB: 16_384,
    network: { devices: [{ dhcp4: true, networkName: 'VM Network 2' }] },
    numCPUs: 4,
    resourcePool: '/dc1/host/cl1/Resources',
    server: 'vc.example.com',
    thumbprint: '',
  },
  named: (template: string): JsonObject => ({ template }),
  installers: 'demo-x7k2p-rhcos-fd1',
  imported: `demo-x7k2p-rhcos-fd1-${version}`,
  untold: [{ template: '/dc1/vm/golden/rhcos' }],
  adopted: `/dc1/vm/golden/rhcos-${version}`,
};
const openstack = {
  around: {
    flavor: 'm1.xlarge',
    identityRef: { cloudName: 'openstack', name: 'demo-x7k2p-cloud-config' },
    ports: [{ network: { filter: { name: 'demo-x7k2p-openshift' } } }],
    rootVolume: { sizeGiB: 100, type: 'ssd' },
    tags: ['openshiftClusterID=demo-x7k2p'],
  },
  named: (name: string): JsonObject => ({ image: { filter: { name } } }),
  installers: 'demo-x7k2p-rhcos',
  imported: `demo-x7k2p-rhcos-${version}`,
  untold: [
    { image: { id: '7f3a2b1c-0000-4000-8000-000000000001' } },
    { image: { imageRef: { name: 'own-image' } } },
    { image: { filter: { tags: ['own'] } } },
  ],
  adopted: `demo-x7k2p-rhcos-${version}`,
};
const vpc = {
  around: {
    bootVolume: { deleteVolumeOnInstanceDelete: true, sizeGiB: 120 },
    primaryNetworkInterface: { subnet: 'demo-x7k2p-subnet-compute-us-south-1' },
    profile: 'bx2-4x16',
    zone: 'us-south-1',
  },
  named: (name: string): JsonObject => ({ image: { name } }),
  installers: 'demo-x7k2p-rhcos',
  imported: 'demo-x7k2p-rhcos-9-8-20260428-0',
  untold: [{ image: { id: 'r006-1', name: 'demo-x7k2p-rhcos' } }, { catalogOffering: { offeringCRN: 'crn:v1:own' } }],
  adopted: 'demo-x7k2p-rhcos-9-8-20260428-0',
};
const powervs = {
  architecture: 'ppc64le',
  installers: 'rhcos-demo-x7k2p',
  imported: `rhcos-demo-x7k2p-${version}`,
  adopted: `rhcos-demo-x7k2p-${version}`,
} as const;

const imported: readonly Imported[] = [
  { kind: 'VSphereMachineTemplate', apiVersion: 'v1beta1', short: 'capi-vsphere', ...vsphere },
  { kind: 'VSphereMachineTemplate', apiVersion: 'v1beta2', short: 'capi-vsphere-v1beta2', ...vsphere },
  { kind: 'OpenStackMachineTemplate', apiVersion: 'v1beta1', short: 'capi-openstack', ...openstack },
  { kind: 'OpenStackMachineTemplate', apiVersion: 'v1beta2', short: 'capi-openstack-v1beta2', ...openstack },
  {
    kind: 'NutanixMachineTemplate',
    apiVersion: 'v1beta1',
    short: 'capi-nutanix',
    around: {
      bootType: 'legacy',
      cluster: { name: 'pe1', type: 'name' },
      memorySize: '16Gi',
      subnet: [{ type: 'uuid', uuid: 'c7938dc6-7659-453e-a688-e26020c68e43' }],
      systemDiskSize: '120Gi',
      vcpuSockets: 4,
      vcpusPerSocket: 1,
    },
    named: (name) => ({ image: { name, type: 'name' } }),
    installers: 'demo-x7k2p-rhcos',
    imported: `demo-x7k2p-rhcos-${version}`,
    untold: [
      { image: { type: 'uuid', uuid: '7f3a2b1c-0000-4000-8000-000000000001' } },
      { imageLookup: { baseOS: 'rhcos', format: 'capx-{{.BaseOS}}-*' } },
    ],
    adopted: `demo-x7k2p-rhcos-${version}`,
  },
  {
    kind: 'IBMPowerVSMachineTemplate',
    apiVersion: 'v1beta2',
    short: 'capi-powervs',
    ...powervs,
    around: {
      memoryGiB: 32,
      network: { regex: '^DHCPSERVER.*_Private$' },
      processorType: 'Shared',
      processors: '0.5',
      serviceInstance: { name: 'demo-x7k2p-power-iaas' },
      sshKey: 'demo-x7k2p-key',
      systemType: 's922',
    },
    named: (name) => ({ image: { name } }),
    untold: [{ image: { id: '7f3a2b1c' } }, { imageRef: { name: 'own-import' } }],
  },
  {
    kind: 'IBMPowerVSMachineTemplate',
    apiVersion: 'v1beta3',
    short: 'capi-powervs-v1beta3',
    ...powervs,
    around: { memoryGiB: 32, processorType: 'Shared', sshKey: 'demo-x7k2p-key', systemType: 's922' },
    named: (name) => ({ image: { reference: { name }, type: 'Reference' } }),
    untold: [
      { image: { reference: { id: '7f3a2b1c' }, type: 'Reference' } },
      { image: { import: { name: 'own-import' }, type: 'Import' } },
    ],
  },
  { kind: 'IBMVPCMachineTemplate', apiVersion: 'v1beta1', short: 'capi-vpc', ...vpc },
  { kind: 'IBMVPCMachineTemplate', apiVersion: 'v1beta2', short: 'capi-vpc-v1beta2', ...vpc },
];

function buildCases({
  short,
  around,
  named,
  installers,
  imported: to,
  untold,
  adopted,
  ...base
}: Imported): TemplateCase[] {
  return [
    { ...base, name: short, spec: { ...around, ...named(installers) }, verdict: 'manual', to },
    { ...base, name: `${short}-imported`, spec: { ...around, ...named(to) }, verdict: 'current', version },
    { ...base, name: `${short}-of-its-owner`, spec: { ...around, ...named('golden') }, verdict: 'theirs' },
    {
      ...base,
      name: `${short}-without-an-image`,
      spec: { ...around, ...named('') },
      verdict: 'failed',
      code: 'SLW_BOOT_IMAGES_SPEC',
    },
    ...untold.flatMap((image, at): TemplateCase[] => [
      { ...base, name: `${short}-untold-${at}`, spec: { ...around, ...image }, verdict: 'theirs' },
      {
        ...base,
        name: `${short}-untold-${at}-adopted`,
        isAdopted: true,
        spec: { ...around, ...image },
        verdict: 'manual',
        to: adopted,
      },
    ]),
  ];
}

export const importedTemplateCases: readonly TemplateCase[] = [
  ...imported.flatMap(buildCases),
  {
    kind: 'IBMPowerVSMachineTemplate',
    apiVersion: 'v1beta2',
    architecture: 'ppc64le',
    name: 'capi-powervs-by-a-pattern',
    spec: { image: { regex: '^rhcos-.*$' } },
    verdict: 'theirs',
  },
  {
    kind: 'VSphereMachineTemplate',
    apiVersion: 'v1beta1',
    architecture: 'aarch64',
    name: 'capi-vsphere-on-arm',
    spec: { ...vsphere.around, ...vsphere.named('demo-x7k2p-rhcos') },
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_ARCH',
  },
];
