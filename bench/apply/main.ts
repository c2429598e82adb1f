// A complete, crash-safe update of 200 and of 1,000 files, compared with a plain loop of write, fsync and rename on the
// same file system in the same run.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createUpdater, type StoredConfig, verifyMachine, writeCurrentConfig } from '@slipway/daemon';
import { planUpdate } from '@slipway/fleet';
import { createSimulatedHost, makeSimulatedMachine } from '@slipway/simulator';
import { compare, type Comparison, median } from '../comparison.ts';
import { type BenchFile, benchFiles, buildConfig } from './configs.ts';
import { measureDaemon } from './daemon-usage.ts';
import { writeAll } from './plain-loop.ts';

const COUNTS = [200, 1000] as const;
const ROUNDS = 9;
/** For a daemon, including an update to a config of maximum size. */
const MAX_MEGABYTES = 110;
const WARM_UP = 1;
/**
 * In the same directories. The cost of a new inode depends on which ones were freed just before, and on some file
 * systems alternates between cheap and expensive: this way both sides see both.
 */
const ORDER = ['ours', 'theirs', 'theirs', 'ours'] as const;
/** On the disk of the clone: where /tmp is in memory, fsync is free and there would be nothing to compare. */
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
if (usage.peakMegabytes > MAX_MEGABYTES) {
  console.log(`MISSED: at most ${usage.peakMegabytes.toFixed(0)} MB resident: the goal is ${MAX_MEGABYTES}`);
  process.exitCode = 1;
}

async function run(count: number): Promise<Comparison> {
  const directory = mkdtempSync(join(CACHE, 'bench-apply-'));
  try {
    const machine = await prepareMachine(directory, count);
    const times: { ours: number[]; theirs: number[] } = { ours: [], theirs: [] };
    const sides = { ours: () => machine.update(), theirs: () => writeAll(directory, machine.files()) };
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      const took = { ours: 0, theirs: 0 };
      for (const side of ORDER) took[side] += (await measureMs(sides[side])) / 2;
      if (round < 0) continue;
      times.ours.push(took.ours);
      times.theirs.push(took.theirs);
    }
    const medians = { ours: median(times.ours), theirs: median(times.theirs) };
    console.log(
      `${count} files: a complete update ${show(times.ours)} ms; a plain loop of write, fsync, rename ${show(times.theirs)} ms; ` +
        `${(medians.ours / medians.theirs).toFixed(2)} times as long (median of ${ROUNDS}, minimum and maximum in brackets)`,
    );
    return compare('apply', `time ${count} files`, 'ms', 'less', medians);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

interface Machine {
  /** Alternates between the two configs. */
  update(): Promise<void>;
  /** The current one. */
  files(): readonly BenchFile[];
}

async function prepareMachine(root: string, count: number): Promise<Machine> {
  const host = createSimulatedHost({ root });
  await makeSimulatedMachine(host.files);
  const none = buildConfig('rendered-bench-none', []);
  await writeCurrentConfig(host.files, none);
  const [first, second] = [benchFiles(count, 0), benchFiles(count, 1)];
  const [from, to] = [buildConfig('rendered-bench-0', first), buildConfig('rendered-bench-1', second)];
  const updater = createUpdater({ host, programVersion: 'bench', verify: (config) => verifyMachine(host, config) });
  const apply = async (request: UpdateRequest): Promise<void> => {
    const result = await updater.apply(request);
    if (result.outcome !== 'new') throw new Error(`the update failed: ${JSON.stringify(result)}`);
  };
  await apply(await buildRequest(none, from));
  const requests = { there: await buildRequest(from, to), back: await buildRequest(to, from) };
  let isThere = false;
  return {
    files: () => (isThere ? second : first),
    async update() {
      await apply(isThere ? requests.back : requests.there);
      isThere = !isThere;
    },
  };
}

type UpdateRequest = Parameters<ReturnType<typeof createUpdater>['apply']>[0];

async function buildRequest(from: StoredConfig, to: StoredConfig): Promise<UpdateRequest> {
  const policy = { files: [{ path: '/', actions: [{ type: 'None' as const }] }] };
  return { from, to, plan: await planUpdate({ current: from, desired: to, policy }) };
}

async function measureMs(act: () => void | Promise<void>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}

function show(times: readonly number[]): string {
  return `${median(times).toFixed(0)} (${Math.min(...times).toFixed(0)}–${Math.max(...times).toFixed(0)})`;
}
