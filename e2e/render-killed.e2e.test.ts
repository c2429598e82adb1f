// Real processes and real kills, three of them, others with each commit. All are in render-killed.slow.test.ts, and on the API in
// memory in packages/controllers/src/render/render-killed.test.ts.
import { drawSample } from '@slipway/testing/sample';
import { it } from 'vitest';
import { expectSameAfterKills, listMoments, useRenderedFleet } from './render/kills.ts';

useRenderedFleet();

it('a controller killed at any of its writes goes on where it stood: the same rendered config, nothing orphaned', async () => {
  const moments = await listMoments();
  await expectSameAfterKills(drawSample('render-killed', moments, 3 / moments.length));
}, 120_000);
