import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootImagePlatforms } from '@slipway/api';
import { platforms } from '@slipway/fleet/boot-images';
import { expect, it } from 'vitest';

const docs = join(import.meta.dirname, '../../../../docs');

it.each(platforms)('there is a page about %s, in the guide’s table', async (platform) => {
  const page = await readFile(join(docs, 'boot-images', `${platform}.md`), 'utf8');
  const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(expect.arrayContaining(['What is automatic', 'User-managed images', 'Without MachineSets']));
  expect(await readFile(join(docs, 'boot-images.md'), 'utf8')).toContain(`](boot-images/${platform}.md) |`);
});

it('every platform that supports opting in has a page', () => {
  expect(bootImagePlatforms.map((name) => name.toLowerCase()).toSorted()).toEqual(platforms.toSorted());
});
