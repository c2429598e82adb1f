// A hundred runs are in leadership.slow.test.ts.
import { expect, it } from 'vitest';
import { expectNoStaleWrites, freezeLeaders } from './leadership/freeze-leaders.ts';

it(
  'a leader frozen past its lease and woken writes nothing over what the new leader has changed, in 12 runs',
  () => expectNoStaleWrites(12),
  120_000,
);

it('without the fence the same freezes do let stale writes land', async () => {
  const { runs, stale } = await freezeLeaders({ pairs: 2, runs: 4, unfenced: true });
  console.log(`leadership without the fence: ${runs.length} freezes, stale writes: ${stale.length}`);
  expect(stale.length).toBeGreaterThan(0);
}, 60_000);
