import { describe, expect, it } from 'vitest';
import { isRoot } from '../host/testing/hostile-user.ts';
import { runAgainstSwaps } from './testing/swapped-home.ts';

describe.runIf(isRoot)('a user who replaces a directory of the config by a link to a directory of root', () => {
  it('10,000 times during heals and updates: nothing of root changes, drift is reported', async () => {
    const { reported, victim } = await runAgainstSwaps({ swaps: 10_000, rounds: 300 });
    expect(victim.after).toEqual(victim.before);
    expect(reported).toBeGreaterThan(0);
  }, 600_000);
});
