// An update of 200 and of 1,000 files, with all that makes it safe, against a plain loop of write, fsync and rename on the
// same file system in the same run. Rounds alternate, so that both meet the same disk.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  createSimulatedHost,
  createUpdater,
  makeSimulatedMachine,
  type StoredConfig,
  verifyMachine,
  writeCurrentConfig,
} from '@slipway/daemon';
import { planUpdate } from '@slipway/fleet';
import { compare, type Comparison, median } from '../comparison.ts';
import { type BenchFile, benchFiles, configOf } from './configs.ts';
import { measureDaemon } from './daemon-usage.ts';
import { makeDirectories, writeAll } from './plain-loop.ts';

const COUNTS = [200, 1000] as const;
const ROUNDS = 11;
const WARM_UP = 2;
/** On the disk that the clone is on: where /tmp is memory, fsync costs nothing and there would be nothing to compare. */
const CACHE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache');

mkdirSync(CACHE, { recursive: true });
const comparisons: Comparison[] = [];
for (const count of COUNTS) comparisons.push(await run(count));
const usage = await measureDaemon();
console.log(
  `a daemon at rest after an update of 1.4 MB: ${usage.idleMegabytes.toFixed(0)} MB resident (at most ${usage.peakMegabytes.toFixed(0)} MB during it), ` +
    `${usage.idleCpuPercent.toFixed(3)} % of a core`,
);
for (const comparison of comparisons) console.log(JSON.stringify(comparison));

async function run(count: number): Promise<Comparison> {
  const directory = mkdtempSync(join(CACHE, 'bench-apply-'));
  try {
    const generations = [benchFiles(count, 0), benchFiles(count, 1)] as const;
    const update = await prepareUpdates(join(directory, 'ours'), generations);
    const theirRoot = join(directory, 'theirs');
    makeDirectories(theirRoot, generations[0]);
    const times: { ours: number[]; theirs: number[] } = { ours: [], theirs: [] };
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      const ours = await timeOf(update);
      const theirs = await timeOf(() => writeAll(theirRoot, generations[round & 1 ? 1 : 0]));
      if (round < 0) continue;
      times.ours.push(ours);
      times.theirs.push(theirs);
    }
    const sides = { ours: median(times.ours), theirs: median(times.theirs) };
    console.log(
      `${count} files: a whole update ${show(times.ours)} ms; a plain loop of write, fsync, rename ${show(times.theirs)} ms; ` +
        `${(sides.ours / sides.theirs).toFixed(2)} times its time (median of ${ROUNDS}, least and most in brackets)`,
    );
    return compare('apply', `time ${count} files`, 'ms', 'less', sides);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** From one config to the other and back, as often as it is called. */
async function prepareUpdates(root: string, generations: readonly [readonly BenchFile[], readonly BenchFile[]]) {
  mkdirSync(root);
  const host = createSimulatedHost({ root });
  await makeSimulatedMachine(host.files);
  const none = configOf('rendered-bench-none', []);
  await writeCurrentConfig(host.files, none);
  const first = configOf('rendered-bench-0', generations[0]);
  const second = configOf('rendered-bench-1', generations[1]);
  const updater = createUpdater({ host, programVersion: 'bench', verify: (config) => verifyMachine(host, config) });
  const apply = async (
    from: StoredConfig,
    to: StoredConfig,
    plan: Awaited<ReturnType<typeof planOf>>,
  ): Promise<void> => {
    const result = await updater.apply({ from, to, plan });
    if (result.outcome !== 'new') throw new Error(`the update failed: ${JSON.stringify(result)}`);
  };
  await apply(none, first, await planOf(none, first));
  const plans = { there: await planOf(first, second), back: await planOf(second, first) };
  let isAtFirst = true;
  return async () => {
    await (isAtFirst ? apply(first, second, plans.there) : apply(second, first, plans.back));
    isAtFirst = !isAtFirst;
  };
}

function planOf(current: StoredConfig, desired: StoredConfig) {
  return planUpdate({ current, desired, policy: { files: [{ path: '/', actions: [{ type: 'None' }] }] } });
}

async function timeOf(act: () => void | Promise<void>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}

function show(times: readonly number[]): string {
  return `${median(times).toFixed(0)} (${Math.min(...times).toFixed(0)}–${Math.max(...times).toFixed(0)})`;
}
