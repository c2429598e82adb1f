// The shipped daemon pulls, verifies and pins the images of a set. Compared with the same pulls by crictl one after
// another, and by a plain loop of parallel pulls: same node with a real CRI-O, same registry, same run.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRegistry } from '@slipway/tools/registry';
import { compare, type Comparison, median } from '../comparison.ts';
import { startBenchNode, type BenchNode } from './bench-node.ts';
import { startCluster, type BenchCluster } from './cluster.ts';
import { pushImages, WORKLOADS, type Workload } from './images.ts';
import { sampleUsage, type Usage } from './usage.ts';

const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const ONLY = process.env['ONLY'] ?? '';
/** The default of workers. */
const AT_ONCE = 5;
/** Maximum time compared with the parallel pulls. */
const MAX_TIME_RATIO = 1.1;
const MAX_MEGABYTES = 110;

if (process.getuid?.() !== 0) {
  console.error('bench:pin runs a real CRI-O on a node with a real systemd, which requires root: run it as root');
  process.exit(1);
}

const directory = await mkdtemp(join(tmpdir(), 'slipway-bench-pin-'));
const registry = await startRegistry();
const cluster = await startCluster();
const node = await startBenchNode({ name: cluster.node, registry, kubeconfig: cluster.nodeKubeconfig, directory });
const comparisons: Comparison[] = [];
const missed: string[] = [];
try {
  for (const workload of WORKLOADS.filter(({ name }) => name.includes(ONLY))) await measure(workload);
} catch (error) {
  console.error(await node.journal());
  throw error;
} finally {
  await node.stop();
  await cluster.stop();
  await registry.stop();
  await rm(directory, { recursive: true, force: true });
}
for (const comparison of comparisons) console.log(JSON.stringify(comparison));
for (const line of missed) console.log(`MISSED: ${line}`);
if (missed.length > 0) process.exitCode = 1;

async function measure(workload: Workload): Promise<void> {
  const images = await pushImages(registry, workload);
  const set = await cluster.makeSet(workload.name.toLowerCase().replaceAll(' ', '-'), images);
  const times: { ours: number[]; parallel: number[] } = { ours: [], parallel: [] };
  const usages: Usage[] = [];
  const sides = {
    async ours() {
      const usage = sampleUsage(await node.daemonPid());
      times.ours.push(await pinWith(cluster, node, set, images.length));
      usages.push(await usage.end());
      await cluster.assign([], AT_ONCE);
    },
    async parallel() {
      times.parallel.push(await node.pullAtOnce(images, AT_ONCE));
    },
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    // Each goes first equally often: the speed of a machine changes within minutes.
    const order = round % 2 === 0 ? (['ours', 'parallel'] as const) : (['parallel', 'ours'] as const);
    for (const side of order) {
      await begin();
      await sides[side]();
    }
  }
  await begin();
  printResults(
    workload,
    { ours: median(times.ours), parallel: median(times.parallel), serial: await node.pullOneByOne(images) },
    usages,
  );
}

async function begin(): Promise<void> {
  await cluster.assign([], AT_ONCE);
  await node.clear();
  await cluster.forgetDaemon();
  await node.start();
  await cluster.daemonIsUp();
}

async function pinWith(to: BenchCluster, on: BenchNode, set: string, count: number): Promise<number> {
  const started = performance.now();
  await to.assign([set], AT_ONCE);
  await to.isPinned(set);
  const ms = performance.now() - started;
  const pinned = (await on.images()).filter((image) => image.pinned).length;
  if (pinned !== count) throw new Error(`${set}: ${pinned} images are pinned, expected ${count}`);
  return ms;
}

interface Times {
  readonly ours: number;
  readonly parallel: number;
  readonly serial: number;
}

function printResults(
  { name, count, bytes }: Workload,
  { ours, parallel, serial }: Times,
  usages: readonly Usage[],
): void {
  const rate = (ms: number) => `${(ms / 1000).toFixed(1)} s, ${((count * bytes) / 1e3 / ms).toFixed(1)} MB/s`;
  const cpu = median(usages.map(({ cpuSeconds }) => cpuSeconds));
  const megabytes = Math.max(...usages.map((usage) => usage.peakMegabytes));
  console.log(
    `${name}: pinned in ${rate(ours)}; ${AT_ONCE} parallel plain pulls ${rate(parallel)}; crictl one by one ${rate(serial)}; ` +
      `the daemon took ${cpu.toFixed(1)} s of a core and at most ${megabytes.toFixed(0)} MB (median of ${ROUNDS})`,
  );
  comparisons.push(
    compare('pin', `time against parallel pulls, ${name}`, 'ms', 'less', { ours, theirs: parallel }),
    compare('pin', `time against serial pulls, ${name}`, 'ms', 'less', { ours, theirs: serial }),
  );
  if (ours > parallel * MAX_TIME_RATIO)
    missed.push(`${name}: ${(ours / parallel).toFixed(2)} times the time of parallel pulls`);
  if (megabytes > MAX_MEGABYTES)
    missed.push(`${name}: the daemon used ${megabytes.toFixed(0)} MB, the goal is at most ${MAX_MEGABYTES}`);
}
