// Duration of the last complete `npm test` of a checkout. Stored in node_modules: it applies to one machine only.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';

export interface TestRun {
  readonly seconds: number;
  readonly passed: number;
  readonly cores: number;
  /** ISO 8601. */
  readonly endedAt: string;
}

const getCachePath = (root: string): string => join(root, 'node_modules/.cache/last-test-run.json');

export function readTestRun(root: string): TestRun | undefined {
  try {
    return JSON.parse(readFileSync(getCachePath(root), 'utf8')) as TestRun;
  } catch {
    return undefined;
  }
}

export function recordTestRun(root: string, run: { startedAt: number; now: number; passed: number }): void {
  const { startedAt, now, passed } = run;
  const record: TestRun = {
    seconds: Math.round((now - startedAt) / 1000),
    passed,
    cores: availableParallelism(),
    endedAt: new Date(now).toISOString(),
  };
  mkdirSync(dirname(getCachePath(root)), { recursive: true });
  writeFileSync(getCachePath(root), `${JSON.stringify(record)}\n`);
}

export function formatTestRun(run: TestRun | undefined): string {
  if (run === undefined) return 'no complete run is recorded here; target ≤ 400 s on 2 cores';
  return `${run.seconds} s for ${run.passed} tests on ${run.cores} cores, ended ${run.endedAt}; target ≤ 400 s on 2 cores`;
}
