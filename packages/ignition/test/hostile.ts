import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';

interface Result {
  inputs: number;
  parsed: number;
  valid: number;
  slowestMillis: number;
  slowestInput: string;
  grownMebibytes: number;
}

/** Byte strings that a seed makes neither crash nor hang nor fill the memory of parse and validate. */
export async function expectHarmless(inputs: number, seed: number): Promise<void> {
  console.log(`ignition hostile inputs: seed ${seed} (SLIPWAY_SEED=${seed} runs them again)`);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    // Without a bound V8 lets garbage pile up; with this one, work that needs more memory ends in a crash.
    [
      '--max-old-space-size=128',
      '--max-semi-space-size=8',
      join(import.meta.dirname, 'hostile-child.ts'),
      String(seed),
      String(inputs),
    ],
    { timeout: 170_000 },
  );
  const result = JSON.parse(stdout) as Result;
  console.log(stdout);
  expect(result.inputs).toBeGreaterThanOrEqual(inputs);
  // A corpus that the parser refuses whole would prove nothing of the validator.
  expect(result.parsed).toBeGreaterThan(inputs / 50);
  expect(result.valid).toBeGreaterThan(inputs / 100);
  expect(result.slowestMillis).toBeLessThan(1000);
  expect(result.grownMebibytes).toBeLessThan(200);
}
