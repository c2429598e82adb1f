import { expect, it } from 'vitest';
import { expectSameAfterKills, listMoments, useRenderedFleet } from './render/kills.ts';

useRenderedFleet();

it('a controller killed at every one of its writes goes on where it stood: the same rendered config, nothing orphaned', async () => {
  const moments = await listMoments();
  expect(moments.length).toBeGreaterThanOrEqual(8);
  await expectSameAfterKills(moments);
}, 300_000);
