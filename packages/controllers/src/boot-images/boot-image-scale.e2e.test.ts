// A thousand, and how long that takes, are in boot-image-scale.slow.test.ts.
import { expect, it } from 'vitest';
import { useBootImagesCluster } from './testing/boot-images-fixture.ts';
import { rollOutImages } from './testing/scale.ts';

useBootImagesCluster();

it('200 MachineSets get a new image with one patch each, and a second run writes nothing', async () => {
  expect(await rollOutImages(200)).toBeLessThan(60);
}, 180_000);
