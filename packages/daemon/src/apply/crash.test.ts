// An update of 20 files and 3 units that comes to its end. That of one that is taken back is in crash-rollback.test.ts, those
// with a reboot are in crash.slow.test.ts.
import { sampleSeed } from '@slipway/testing/sample';
import { beforeAll, describe, expect, it } from 'vitest';
import { disturbances } from './testing/crash.ts';
import { expectExact } from './testing/expect-exact.ts';
import { makeSample, type Sample } from './testing/sample.ts';

const LONG = 120_000;
/** Every fifth call; at which one it begins follows from the commit. All of them are in crash.slow.test.ts. */
const STEP = 5;

describe('an update that is disturbed at any call leaves the machine exactly old or exactly new', () => {
  let sample: Sample;
  beforeAll(async () => {
    sample = await makeSample('update');
  });

  for (const disturbance of disturbances)
    it(`by ${disturbance.name}`, { timeout: LONG }, async () => {
      const every = { first: sampleSeed() % STEP, step: STEP };
      const tally = await expectExact(sample, disturbance, { tryAgainAfterOneOf: 5, every });
      // Early ones end old and late ones new: else the faults did not reach all of the update.
      expect(Math.min(tally.old, tally.new)).toBeGreaterThan(0);
    });
});
