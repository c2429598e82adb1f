import type { JsonObject } from '../../json.ts';
import { olderStream, rhel9 } from '../stream-metadata.ts';
import type { TemplateCase } from './template-case.ts';

const { version } = rhel9;

const azure = { kind: 'AzureMachineTemplate', apiVersion: 'v1beta1' } as const;
const azureSpec = (image: JsonObject, more: JsonObject = {}): JsonObject => ({
  allocatePublicIP: false,
  identity: 'UserAssigned',
  ...image,
  networkInterfaces: [{ acceleratedNetworking: true, privateIPConfigs: 1, subnetName: 'demo-x7k2p-worker-subnet' }],
  osDisk: {
    cachingType: 'ReadWrite',
    diskSizeGB: 128,
    managedDisk: { storageAccountType: 'Premium_LRS' },
    osType: 'Linux',
  },
  sshPublicKey: '',
  userAssignedIdentities: [{ providerID: 'azure:///subscriptions/s/resourceGroups/demo-x7k2p-rg/demo' }],
  vmSize: 'Standard_D4s_v3',
  ...more,
});
const free = (sku: string, of: string, more: JsonObject = {}): JsonObject => ({
  image: { marketplace: { offer: 'aro4', publisher: 'azureopenshift', sku, version: of, ...more } },
});
const paid = (publisher: string, of: string, sku = 'rh-ocp-worker'): JsonObject => ({
  image: { marketplace: { offer: 'rh-ocp-worker', publisher, sku, thirdPartyImage: true, version: of } },
});
const upload = (name: string, gallery = 'gallery_demo_x7k2p'): string =>
  `/subscriptions/5f3a2b1c/resourceGroups/demo-x7k2p-rg/providers/Microsoft.Compute/galleries/${gallery}/images/${name}`;
const { free: newFree, paid: newPaid, emea } = rhel9.marketplace;
const oldFree = olderStream.marketplace.free;
const confidential = { securityProfile: { securityType: 'ConfidentialVM', uefiSettings: { vTpmEnabled: true } } };

export const azureTemplateCases: readonly TemplateCase[] = [
  {
    ...azure,
    name: 'capi-azure',
    spec: azureSpec(free('aro_419-v2', oldFree)),
    verdict: 'change',
    to: `azureopenshift:aro4:aro_422-v2:${newFree}`,
    version: newFree,
    after: azureSpec(free('aro_422-v2', newFree)),
  },
  {
    ...azure,
    name: 'capi-azure-said',
    spec: azureSpec(free('aro_419', oldFree, { thirdPartyImage: false })),
    verdict: 'change',
    to: `azureopenshift:aro4:aro_422:${newFree}`,
    after: azureSpec(free('aro_422', newFree, { thirdPartyImage: false })),
  },
  {
    ...azure,
    name: 'capi-azure-current',
    spec: azureSpec(free('aro_422-v2', newFree)),
    verdict: 'current',
    version: newFree,
  },
  {
    ...azure,
    name: 'capi-azure-arm',
    architecture: 'aarch64',
    spec: azureSpec(free('aro_419-arm', oldFree)),
    verdict: 'change',
    to: `azureopenshift:aro4:aro_422-arm:${newFree}`,
    after: azureSpec(free('aro_422-arm', newFree)),
  },
  {
    ...azure,
    name: 'capi-azure-paid',
    spec: azureSpec(paid('redhat', '418.94.20250122')),
    verdict: 'change',
    to: `redhat:rh-ocp-worker:rh-ocp-worker:${newPaid}`,
    after: azureSpec(paid('redhat', newPaid)),
  },
  {
    ...azure,
    name: 'capi-azure-paid-gen1',
    spec: azureSpec(paid('redhat', '418.94.20250122', 'rh-ocp-worker-gen1')),
    verdict: 'change',
    to: `redhat:rh-ocp-worker:rh-ocp-worker-gen1:${newPaid}`,
    after: azureSpec(paid('redhat', newPaid, 'rh-ocp-worker-gen1')),
  },
  {
    ...azure,
    name: 'capi-azure-paid-emea',
    spec: azureSpec(paid('redhat-limited', emea)),
    verdict: 'current',
    version: emea,
  },
  {
    ...azure,
    name: 'capi-azure-upload',
    spec: azureSpec({ image: { id: upload('demo-x7k2p-gen2') } }),
    verdict: 'change',
    to: `azureopenshift:aro4:aro_422-v2:${newFree}`,
    after: azureSpec({
      image: { marketplace: { publisher: 'azureopenshift', offer: 'aro4', sku: 'aro_422-v2', version: newFree } },
    }),
  },
  {
    ...azure,
    name: 'capi-azure-upload-in-a-gallery',
    spec: azureSpec({
      image: {
        computeGallery: {
          gallery: 'gallery_demo_x7k2p',
          name: 'demo-x7k2p',
          resourceGroup: 'demo-x7k2p-rg',
          subscriptionID: '5f3a2b1c',
          version: '9.6.20250523',
        },
      },
    }),
    verdict: 'change',
    to: `azureopenshift:aro4:aro_422:${newFree}`,
    after: azureSpec({
      image: { marketplace: { publisher: 'azureopenshift', offer: 'aro4', sku: 'aro_422', version: newFree } },
    }),
  },
  {
    ...azure,
    name: 'capi-azure-upload-of-its-owner',
    spec: azureSpec({ image: { id: upload('golden', 'own') } }),
    verdict: 'theirs',
  },
  {
    ...azure,
    name: 'capi-azure-shared-gallery',
    spec: azureSpec({
      image: {
        sharedGallery: { gallery: 'own', name: 'golden', resourceGroup: 'own', subscriptionID: 's', version: '1.0.0' },
      },
    }),
    verdict: 'theirs',
  },
  {
    ...azure,
    name: 'capi-azure-public-gallery',
    spec: azureSpec({
      image: { computeGallery: { gallery: 'ClusterAPI-f72ceb4f', name: 'capi-ubun2-2404', version: 'latest' } },
    }),
    verdict: 'theirs',
  },
  {
    ...azure,
    name: 'capi-azure-confidential',
    spec: azureSpec({ image: { id: upload('demo-x7k2p-gen2') } }, confidential),
    verdict: 'manual',
    to: `${upload('demo-x7k2p-gen2')}/versions/9.8.20260428`,
  },
  {
    ...azure,
    name: 'capi-azure-confidential-imported',
    spec: azureSpec({ image: { id: `${upload('demo-x7k2p-gen2')}/versions/9.8.20260428` } }, confidential),
    verdict: 'current',
    version,
  },
  {
    ...azure,
    name: 'capi-azure-another-publisher',
    spec: azureSpec({ image: { marketplace: { offer: 'own', publisher: 'example', sku: 'a', version: '1' } } }),
    verdict: 'theirs',
  },
  { ...azure, name: 'capi-azure-default', spec: azureSpec({}), verdict: 'theirs' },
  {
    ...azure,
    name: 'capi-azure-empty',
    spec: azureSpec({ image: {} }),
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_SPEC',
  },
];
