import { Oracle } from '@slipway/tools/ignition-oracle';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCases } from './run.ts';

/** Another seed each run finds more; a failure prints its seed, and SLIPWAY_SEED repeats it. */
const SEED = Number(process.env['SLIPWAY_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

let oracle: Oracle;
beforeAll(async () => {
  oracle = await Oracle.start();
}, 300_000);
afterAll(() => oracle.close());

it('20,000 generated configs are read, validated, translated and merged as by the Go library', async () => {
  expect(await runCases(oracle, SEED, 20_000)).toBe('no difference');
});
