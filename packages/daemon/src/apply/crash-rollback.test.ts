// An update of 20 files and 3 units that is rolled back, because a service does not start with its new files.
import { sampleSeed } from '@slipway/testing/sample';
import { beforeAll, describe, expect, it } from 'vitest';
import { disturbances } from './testing/crash.ts';
import { expectExact } from './testing/expect-exact.ts';
import { makeSample, type Sample } from './testing/sample.ts';

const LONG = 120_000;
/** Every fifth call. The commit determines the first one. crash.slow.test.ts covers all of them. */
const STEP = 5;

describe('a rollback that is disturbed at any call leaves the machine exactly at the old config', () => {
  let sample: Sample;
  beforeAll(async () => {
    sample = await makeSample('update that fails');
  });

  for (const disturbance of disturbances)
    it(`by ${disturbance.name}`, { timeout: LONG }, async () => {
      const every = { first: sampleSeed() % STEP, step: STEP };
      const tally = await expectExact(sample, disturbance, { tryAgainAfterOneOf: 5, every });
      expect(tally.old).toBe(tally.tried);
    });
});
