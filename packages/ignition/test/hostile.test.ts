import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const INPUTS = 100_000;
const SEED = Number(process.env['SLIPWAY_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

interface Result {
  inputs: number;
  parsed: number;
  valid: number;
  slowestMillis: number;
  slowestInput: string;
  grownMebibytes: number;
}

it(`${INPUTS} hostile byte strings neither crash nor hang nor fill the memory of parse and validate`, async () => {
  console.log(`ignition hostile inputs: seed ${SEED} (SLIPWAY_SEED=${SEED} runs them again)`);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    // Without a bound V8 lets garbage pile up; with this one, work that needs more memory ends in a crash.
    [
      '--max-old-space-size=128',
      '--max-semi-space-size=8',
      join(import.meta.dirname, 'hostile-child.ts'),
      String(SEED),
      String(INPUTS),
    ],
    { timeout: 170_000 },
  );
  const result = JSON.parse(stdout) as Result;
  console.log(stdout);
  expect(result.inputs).toBeGreaterThanOrEqual(INPUTS);
  // A corpus that the parser refuses whole would prove nothing of the validator.
  expect(result.parsed).toBeGreaterThan(INPUTS / 50);
  expect(result.valid).toBeGreaterThan(INPUTS / 100);
  expect(result.slowestMillis).toBeLessThan(1000);
  expect(result.grownMebibytes).toBeLessThan(200);
}, 180_000);
