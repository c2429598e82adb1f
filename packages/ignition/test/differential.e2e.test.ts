import { Oracle } from '@slipway/tools/ignition-oracle';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SPEC_VERSIONS } from '../src/index.ts';
import { BATCH, runBatch, runEveryValue, shrink, type Found } from './run.ts';

const CASES = 20_000;
/** Another seed each run finds more; a failure prints its own, and SLIPWAY_SEED runs it again. */
const SEED = Number(process.env['SLIPWAY_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

let oracle: Oracle;

// The first run on a machine builds the oracle.
beforeAll(async () => {
  oracle = await Oracle.start();
}, 300_000);

afterAll(() => oracle.close());

it(`${CASES} generated configs are read, validated, translated and merged as by the Go library`, async () => {
  console.log(`ignition differential: seed ${SEED}, ${CASES} cases (SLIPWAY_SEED=${SEED} runs them again)`);
  let found: Found | undefined;
  for (let done = 0; done < CASES && found === undefined; done += BATCH) found = await runBatch(oracle, SEED + done);
  expect(found === undefined ? 'no difference' : await shrink(oracle, found)).toBe('no difference');
}, 240_000);

it.each(SPEC_VERSIONS)('%s: every field has the same limits as in the Go library', async (version) => {
  expect(await runEveryValue(oracle, version, SEED)).toEqual([]);
});
