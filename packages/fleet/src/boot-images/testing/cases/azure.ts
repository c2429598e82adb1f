import type { ImageCase } from './image-case.ts';
import { azureSpec } from '../provider-specs.ts';
import { olderStream, rhel9 } from '../stream-metadata.ts';
import type { JsonObject } from '../../json.ts';

const { version } = rhel9;

const azureImage = (image: JsonObject): JsonObject => ({ ...azureSpec, image });
const noPlan = (sku: string, of: string): JsonObject => ({
  offer: 'aro4',
  publisher: 'azureopenshift',
  resourceID: '',
  sku,
  type: 'MarketplaceNoPlan',
  version: of,
});
const plan = (publisher: string, product: string, end: string, of: string): JsonObject => ({
  offer: `rh-${product}-worker`,
  publisher,
  resourceID: '',
  sku: `rh-${product}-worker${end}`,
  type: 'MarketplaceWithPlan',
  version: of,
});
const { free, paid, emea } = rhel9.marketplace;
const GROUP = '/resourceGroups/demo-x7k2p-rg/providers/Microsoft.Compute';
const gallery = `${GROUP}/galleries/gallery_demo_x7k2p/images`;
const upload = (resourceID: string): JsonObject => ({ offer: '', publisher: '', resourceID, sku: '', version: '' });
const confidential = { securityProfile: { settings: { securityType: 'ConfidentialVM', confidential: {} } } };
export const azureCases: readonly ImageCase[] = [
  {
    name: 'azure',
    platform: 'azure',
    spec: azureSpec,
    verdict: 'change',
    to: `azureopenshift:aro4:aro_422-v2:${free}`,
    version: free,
    after: azureImage(noPlan('aro_422-v2', free)),
  },
  {
    name: 'azure-of-the-first-generation',
    platform: 'azure',
    spec: {
      ...azureImage(noPlan('aro_410', '410.84.20220125')),
      apiVersion: 'azureproviderconfig.openshift.io/v1beta1',
    },
    verdict: 'change',
    version: free,
    after: { ...azureImage(noPlan('aro_422', free)), apiVersion: 'azureproviderconfig.openshift.io/v1beta1' },
  },
  {
    name: 'azure-arm',
    platform: 'azure',
    architecture: 'aarch64',
    spec: azureImage(noPlan('aro_419-arm', olderStream.marketplace.free)),
    verdict: 'change',
    version: free,
    after: azureImage(noPlan('aro_422-arm', free)),
  },
  {
    name: 'azure-paid',
    platform: 'azure',
    spec: azureImage(plan('redhat', 'ocp', '', olderStream.marketplace.paid)),
    verdict: 'change',
    to: `redhat:rh-ocp-worker:rh-ocp-worker:${paid}`,
    version: paid,
    after: azureImage(plan('redhat', 'ocp', '', paid)),
  },
  {
    name: 'azure-paid-of-the-first-generation-in-emea',
    platform: 'azure',
    spec: azureImage(plan('redhat-limited', 'oke', '-gen1', olderStream.marketplace.emea)),
    verdict: 'change',
    version: emea,
    after: azureImage(plan('redhat-limited', 'oke', '-gen1', emea)),
  },
  {
    name: 'azure-paid-and-current-without-a-type',
    platform: 'azure',
    spec: azureImage({ offer: 'rh-opp-worker', publisher: 'redhat', sku: 'rh-opp-worker', version: paid }),
    verdict: 'current',
    version: paid,
  },
  {
    name: 'azure-uploaded-by-the-installer',
    platform: 'azure',
    spec: azureImage(upload(`${gallery}/demo-x7k2p-gen2`)),
    verdict: 'change',
    version: free,
    after: azureImage(noPlan('aro_422-v2', free)),
  },
  {
    name: 'azure-uploaded-by-the-installer-long-ago',
    platform: 'azure',
    spec: azureImage(upload(`${GROUP}/images/demo-x7k2p`)),
    verdict: 'change',
    version: free,
    after: azureImage(noPlan('aro_422', free)),
  },
  {
    name: 'azure-uploaded-by-its-owner',
    platform: 'azure',
    spec: azureImage(upload(`${GROUP}/galleries/golden/images/rhcos`)),
    verdict: 'theirs',
  },
  {
    name: 'azure-confidential',
    platform: 'azure',
    spec: { ...azureImage(upload(`${gallery}/demo-x7k2p-gen2`)), ...confidential },
    verdict: 'manual',
    to: `${gallery}/demo-x7k2p-gen2/versions/9.8.20260428`,
  },
  {
    name: 'azure-confidential-current',
    platform: 'azure',
    spec: { ...azureImage(upload(`${gallery}/demo-x7k2p-gen2/versions/9.8.20260428`)), ...confidential },
    verdict: 'current',
    version,
  },
  {
    name: 'azure-confidential-of-the-marketplace',
    platform: 'azure',
    spec: { ...azureSpec, ...confidential },
    verdict: 'theirs',
  },
  {
    name: 'azure-stack',
    platform: 'azure',
    azureCloud: 'AzureStackCloud',
    spec: azureImage(upload(`${GROUP}/images/demo-x7k2p`)),
    verdict: 'manual',
    to: `${GROUP}/images/demo-x7k2p-rhcos-${version}`,
  },
  {
    name: 'azure-stack-of-a-marketplace',
    platform: 'azure',
    azureCloud: 'AzureStackCloud',
    spec: azureSpec,
    verdict: 'theirs',
  },
  {
    name: 'azure-uploaded-by-its-owner-under-the-name-of-the-cluster',
    platform: 'azure',
    spec: azureImage(upload(`${GROUP}/galleries/golden/images/demo-x7k2p`)),
    verdict: 'theirs',
  },
  {
    name: 'azure-of-an-unknown-publisher-adopted',
    platform: 'azure',
    isAdopted: true,
    spec: azureImage({ ...noPlan('9-gen2', '1.2.3'), publisher: 'somebody' }),
    verdict: 'change',
    version: free,
    after: azureImage(noPlan('aro_422-v2', free)),
  },
  {
    name: 'azure-of-an-unknown-publisher',
    platform: 'azure',
    spec: azureImage({ ...noPlan('9', '1.2.3'), publisher: 'somebody' }),
    verdict: 'theirs',
  },
  {
    name: 'azure-paid-on-arm',
    platform: 'azure',
    architecture: 'aarch64',
    spec: azureImage(plan('redhat', 'ocp', '', olderStream.marketplace.paid)),
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_ARCH',
  },
  {
    name: 'azure-on-z',
    platform: 'azure',
    architecture: 's390x',
    spec: azureSpec,
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_ARCH',
  },
  {
    name: 'azure-without-an-image',
    platform: 'azure',
    spec: azureImage(upload('')),
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_SPEC',
  },
];
