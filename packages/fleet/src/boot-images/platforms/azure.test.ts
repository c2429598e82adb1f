import { describe, expect, it } from 'vitest';
import { azure } from './azure.ts';
import { buildImageQuestion } from '../testing/image-cases.ts';
import { azureSpec } from '../testing/provider-specs.ts';
import { rhel10 } from '../testing/stream-metadata.ts';
import type { JsonObject } from '../json.ts';

const withImage = (image: JsonObject): JsonObject => ({
  ...azureSpec,
  image: { ...(azureSpec['image'] as JsonObject), ...image },
});
const upload = { publisher: '', offer: '', sku: '', version: '', type: '' };
const question = buildImageQuestion({ name: 'azure' });
const withoutMarketplace = { ...question, images: { ...question.images, 'rhel-coreos-extensions': {} } };
const GALLERY =
  '/resourceGroups/demo-x7k2p-rg/providers/Microsoft.Compute/galleries/gallery_demo_x7k2p/images/demo-x7k2p';

describe('a stream whose OS is not on the marketplace yet', () => {
  const standIn = buildImageQuestion({ name: 'azure' }, rhel10);

  it('lets machines boot its older marketplace OS, and reports it', () => {
    expect(azure.machineApi(azureSpec, standIn)).toMatchObject({ type: 'change', version: rhel10.marketplace.free });
  });

  it('does not downgrade machines that already boot its OS', () => {
    const image = { sku: 'aro_500-v2', version: '10.0.20251101' };
    expect(azure.machineApi(withImage(image), standIn)).toMatchObject({
      type: 'theirs',
      why: expect.stringContaining('has an older OS than its stream'),
    });
  });
});

describe('a release without images on the marketplace', () => {
  it('has what the installer uploaded be uploaded again', () => {
    const verdict = azure.machineApi(withImage({ ...upload, resourceID: GALLERY }), withoutMarketplace);
    expect(verdict).toMatchObject({ type: 'manual', to: `${GALLERY}/versions/9.8.20260428` });
  });

  it('fails machines that boot from there', () => {
    expect(azure.machineApi(azureSpec, withoutMarketplace)).toMatchObject({
      type: 'failed',
      code: 'SLW_BOOT_IMAGES_ARCH',
      message: expect.stringContaining('rhel-coreos-extensions.marketplace.azure.no-purchase-plan.hyperVGen2'),
    });
  });
});

describe('the generation of an upload', () => {
  const GROUPS = '/resourceGroups/demo-gen2-rg/providers/Microsoft.Compute';
  it.each<[string, string, string, string]>([
    ['of the first one, in a cluster whose name has its letters', 'demo-xg2kp', 'demo-xg2kp', 'aro_422'],
    ['of the first one, in a cluster whose name has its word', 'demo-gen2-abcde', 'demo-gen2-abcde', 'aro_422'],
    ['of the second one in the same cluster', 'demo-gen2-abcde', 'demo-gen2-abcde-gen2', 'aro_422-v2'],
    ['of the second one', 'demo-x7k2p', 'demo-x7k2p-gen2', 'aro_422-v2'],
    ['of a user, in a word of its name', 'demo-x7k2p', 'golden_v2', 'aro_422-v2'],
    ['of a user, with its letters by chance', 'demo-x7k2p', 'rhcos-bag2b', 'aro_422'],
  ])('%s', (_, infrastructureName, name, sku) => {
    const gallery = `${GROUPS}/galleries/gallery_${infrastructureName.replaceAll('-', '_')}/images/${name}`;
    const found = azure.machineApi(withImage({ ...upload, resourceID: gallery }), {
      ...question,
      infrastructureName,
      isAdopted: true,
    });
    expect(found).toMatchObject({ type: 'change', spec: { image: { sku } } });
  });
});

describe('an upload', () => {
  it.each([
    ['of another cluster', { infrastructureName: 'other-1abcd' }],
    ['in a cluster whose name is not known', { infrastructureName: '' }],
  ])('%s is ignored', (_, more) => {
    const spec = withImage({ ...upload, resourceID: GALLERY });
    expect(azure.machineApi(spec, { ...question, ...more })).toMatchObject({ type: 'theirs' });
  });

  it('that is not an image of a resource group is ignored', () => {
    const spec = withImage({ ...upload, resourceID: '/communityGalleries/x/images/y' });
    expect(azure.machineApi(spec, question)).toMatchObject({ type: 'theirs' });
  });
});

it('machines whose type of image is wrong are set right', () => {
  const { publisher, offer, sku, version } = {
    publisher: 'azureopenshift',
    offer: 'aro4',
    sku: 'aro_422-v2',
    version: '9.8.20260428',
  };
  const spec = withImage({ publisher, offer, sku, version, type: 'MarketplaceWithPlan' });
  expect(azure.machineApi(spec, question)).toMatchObject({
    type: 'change',
    spec: { image: { type: 'MarketplaceNoPlan' } },
  });
});
