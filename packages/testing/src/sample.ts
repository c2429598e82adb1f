// Long matrices are sampled in `npm test` and run in full in `npm run test:slow`. The commit determines the sample: a
// change is tested with the same cases wherever it runs, and the next change with others. A matrix of a million cases has
// a slow file of its own; a file that calls `sampleCases` or `sampleStep` is itself run by `test:slow`, with every case.
import { execFileSync } from 'node:child_process';
import { onTestFailed } from 'vitest';
import { createRandom, hashText } from './random.ts';

/** The share of a matrix in one run, unless a test specifies another. */
const SHARE = 1 / 5;

let known: number | undefined;

/** Call it within a test: if the test fails, it prints how to run the same sample again. */
export function sampleSeed(): number {
  const seed = seedOfRun();
  onTestFailed(() => console.error(`SLIPWAY_SAMPLE_SEED=${seed} runs the same sample again`));
  return seed;
}

const seedOfRun = (): number => (known ??= readSeed(process.env['SLIPWAY_SAMPLE_SEED']));

/** Some of the items in order, at least one. Each sampled test passes its name, to get an independent sample. */
export function drawSample<T>(name: string, items: readonly T[], share = SHARE): T[] {
  return choose(items, share, sampleSeed() + hashText(name));
}

function choose<T>(items: readonly T[], share: number, seed: number): T[] {
  const count = Math.max(1, Math.ceil(items.length * share));
  return chooseIndexes(items.length, count, seed).map((index) => items[index] as T);
}

/** As `drawSample`, for `it.each`, where no test runs yet: the title of a failed test names its case. */
export function sampleCases<T>(name: string, cases: readonly T[], share = SHARE): T[] {
  if (isWhole()) return [...cases];
  return choose(cases, share, seedOfRun() + hashText(name));
}

/** For kills at the writes of a run, whose number is known only at its end: every `step`-th write, from `first`. */
export function sampleStep(name: string, step: number): { first: number; step: number } {
  if (isWhole()) return { first: 1, step: 1 };
  return { first: 1 + ((seedOfRun() + hashText(name)) % step), step };
}

/** Set by the project `slow`. */
const isWhole = (): boolean => process.env['SLIPWAY_SAMPLE'] === 'all';

/** This many different indexes below `length`, in order. */
export function chooseIndexes(length: number, count: number, seed: number): number[] {
  const random = createRandom(seed);
  const indexes = Array.from({ length }, (_, index) => index);
  // The first steps of a Fisher–Yates shuffle.
  for (let at = 0; at < Math.min(count, length); at += 1) {
    const other = random.int(at, length - 1);
    [indexes[at], indexes[other]] = [indexes[other] ?? at, indexes[at] ?? other];
  }
  return indexes.slice(0, count).sort((a, b) => a - b);
}

function readSeed(given: string | undefined): number {
  if (given !== undefined) return Number(given);
  try {
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return Number.parseInt(commit.slice(0, 7), 16);
  } catch {
    // Sources without a Git history: any constant seed will do.
    return 1;
  }
}
