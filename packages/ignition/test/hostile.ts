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

/** Feeds seeded byte strings to parse and validate, which must not crash, hang or exhaust memory. */
export async function expectHarmless(inputs: number, seed: number): Promise<void> {
  console.log(`ignition hostile inputs: seed ${seed} (SLIPWAY_SEED=${seed} runs them again)`);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    // Without a limit V8 accumulates garbage; with this one, work that needs more memory crashes.
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
  // A corpus that the parser always refuses would prove nothing about the validator.
  expect(result.parsed).toBeGreaterThan(inputs / 50);
  expect(result.valid).toBeGreaterThan(inputs / 100);
  expect(result.slowestMillis).toBeLessThan(1000);
  expect(result.grownMebibytes).toBeLessThan(200);
}
