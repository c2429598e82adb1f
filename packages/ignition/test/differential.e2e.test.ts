// Twenty thousand cases are in differential.slow.test.ts, a million in `npm run fuzz:ignition`.
import { sampleCases, sampleSeed } from '@slipway/testing/sample';
import { Oracle } from '@slipway/tools/ignition-oracle';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SPEC_VERSIONS } from '../src/index.ts';
import { runCases, runEveryValue } from './run.ts';

/** Another seed with each commit finds more; a failure prints its seed, and SLIPWAY_SEED repeats it. */
const readSeed = (): number => Number(process.env['SLIPWAY_SEED'] ?? sampleSeed());

let oracle: Oracle;

// The first run on a machine builds the oracle.
beforeAll(async () => {
  oracle = await Oracle.start();
}, 300_000);

afterAll(() => oracle.close());

it('3000 generated configs are read, validated, translated and merged as by the Go library', async () => {
  expect(await runCases(oracle, readSeed(), 3000)).toBe('no difference');
}, 240_000);

it.each(sampleCases('limits', SPEC_VERSIONS, 3 / 10))(
  '%s: every field has the same limits as in the Go library',
  async (version) => {
    expect(await runEveryValue(oracle, version, readSeed())).toEqual([]);
  },
);
