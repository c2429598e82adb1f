import { expect, it } from 'vitest';
import { useBootImagesCluster } from './testing/boot-images-fixture.ts';
import { rollOutImages } from './testing/scale.ts';

useBootImagesCluster();

it('a thousand MachineSets get a new image within half a minute, with one patch each, and a second run writes nothing', async () => {
  expect(await rollOutImages(1000)).toBeLessThan(30);
}, 180_000);
