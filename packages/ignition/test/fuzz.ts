// A million cases against the Go library. An interrupted run resumes where it stopped; `--seed N` starts another one.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { Oracle } from '@slipway/tools/ignition-oracle';
import { BATCH, runBatch, shrink } from './run.ts';

interface Progress {
  seed: number;
  cases: number;
  done: number;
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    cases: { type: 'string', default: '1000000' },
    progress: { type: 'string', default: '.slipway/fuzz-ignition.json' },
  },
});

const progress = resume();
console.log(`ignition fuzz: seed ${progress.seed}, ${progress.cases} cases, ${progress.done} done before`);
process.exitCode = await fuzz(progress);

async function fuzz(progress: Progress): Promise<number> {
  const oracle = await Oracle.start();
  const started = { at: performance.now(), done: progress.done };
  try {
    while (progress.done < progress.cases) {
      const found = await runBatch(oracle, progress.seed + progress.done);
      if (found !== undefined) {
        console.error(await shrink(oracle, found));
        return 1;
      }
      progress.done += BATCH;
      save(progress);
      if (progress.done % (BATCH * 20) === 0) reportProgress(progress, started);
    }
    reportProgress(progress, started);
    return 0;
  } finally {
    await oracle.close();
  }
}

function reportProgress({ done, cases, seed }: Progress, started: { at: number; done: number }): void {
  const rate = ((done - started.done) / (performance.now() - started.at)) * 1000;
  const left = Math.max(0, cases - done) / rate / 60;
  console.log(
    `${done} of ${cases} cases agree (seed ${seed}), ${rate.toFixed(0)} a second, ${left.toFixed(0)} min left`,
  );
}

/** The unfinished run, unless another is requested. */
function resume(): Progress {
  const asked = { seed: values.seed === undefined ? undefined : Number(values.seed), cases: Number(values.cases) };
  const old = load();
  if (old !== undefined && old.done < asked.cases && (asked.seed ?? old.seed) === old.seed) {
    return { ...old, cases: asked.cases };
  }
  return { seed: asked.seed ?? Math.floor(Math.random() * 2 ** 31), cases: asked.cases, done: 0 };
}

function load(): Progress | undefined {
  try {
    const read: unknown = JSON.parse(readFileSync(values.progress, 'utf8'));
    return isProgress(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

function isProgress(value: unknown): value is Progress {
  if (typeof value !== 'object' || value === null) return false;
  return ['seed', 'cases', 'done'].every((key) => Number.isSafeInteger(Reflect.get(value, key)));
}

function save(progress: Progress): void {
  mkdirSync(dirname(values.progress), { recursive: true });
  writeFileSync(`${values.progress}.new`, JSON.stringify(progress));
  renameSync(`${values.progress}.new`, values.progress);
}
