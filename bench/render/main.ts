import { getHeapStatistics } from 'node:v8';
import type { MachineConfig } from '@slipway/api';
import { readMachineConfig, type RenderInput, renderPool, selectMachineConfigs } from '@slipway/fleet';
import { Oracle } from '@slipway/tools/ignition-oracle';
import { compare, median } from '../comparison.ts';
import { machineConfigs, pool } from './machine-configs.ts';

// Renders MachineConfigs of 20 files, from their JSON to a rendered config with its name. The other side is the Go
// library of Ignition, merging each config onto the growing result as the usual operator does. It gets only the configs
// and neither names nor measures the result, so it does less.
const COUNTS = [5, 50, 200] as const;
const OUR_RUNS = { 5: 200, 50: 60, 200: 25 };
const THEIR_RUNS = { 5: 15, 50: 5, 200: 3 };

interface Figures {
  milliseconds: number;
  /** Of the rendering thread: independent of other load. */
  cpu?: number;
  megabytes: number;
}

type Compared = 'milliseconds' | 'megabytes';

const texts = new Map(COUNTS.map((count) => [count, JSON.stringify(machineConfigs(count))]));

// Cold, as in a command that renders once.
const first = await renderOurs(texts.get(200) ?? '');
const oracle = await Oracle.start();
try {
  await run(oracle);
} finally {
  await oracle.close();
}

async function run(oracle: Oracle): Promise<void> {
  const results = new Map<number, { ours: Figures; theirs: Figures }>();
  for (const count of COUNTS) {
    const text = texts.get(count) ?? '';
    const ours = await repeat(OUR_RUNS[count], () => renderOurs(text));
    const theirs = await repeat(THEIR_RUNS[count], () => foldTheirs(oracle, text));
    results.set(count, { ours, theirs });
  }
  console.log('MachineConfigs of 20 files   Slipway: time, allocated    Go: time, allocated');
  for (const [count, { ours, theirs }] of results)
    console.log(`${String(count).padEnd(27)}  ${show(ours)}  ${show(theirs)}`);
  const took = `${first.milliseconds.toFixed(1)} ms, ${first.cpu?.toFixed(1)} ms of CPU`;
  console.log(`the first render of a new process, 200 of them: ${took}`);
  const warm = [...results].map(([count, { ours }]) => `${count}: ${ours.cpu?.toFixed(1)} ms`);
  console.log(`Slipway in CPU time: ${warm.join(', ')}`);
  printGrowth(results);
  for (const [count, { ours, theirs }] of results) {
    const sides = (figure: Compared) => ({ ours: ours[figure], theirs: theirs[figure] });
    console.log(JSON.stringify(compare('render', `time ${count}`, 'ms', 'less', sides('milliseconds'))));
    console.log(JSON.stringify(compare('render', `memory ${count}`, 'MB', 'less', sides('megabytes'))));
  }
}

function printGrowth(results: ReadonlyMap<number, { ours: Figures; theirs: Figures }>): void {
  const [some, many] = [results.get(50), results.get(200)];
  if (some === undefined || many === undefined) return;
  const grown = (side: 'ours' | 'theirs', figure: Compared) => (many[side][figure] / some[side][figure]).toFixed(1);
  console.log(
    `from 50 to 200, 4 times the input: Slipway takes ${grown('ours', 'milliseconds')} times the time and ` +
      `${grown('ours', 'megabytes')} times the memory, Go ${grown('theirs', 'milliseconds')} and ${grown('theirs', 'megabytes')} times`,
  );
}

async function renderOurs(text: string): Promise<Figures> {
  const allocated = allocatedBytes();
  const cpuBefore = process.threadCpuUsage();
  const start = performance.now();
  // Our own text: its shape is known.
  const all = JSON.parse(text) as MachineConfig[];
  const inputs: RenderInput[] = [];
  for (const machineConfig of selectMachineConfigs(pool, all)) {
    const read = await readMachineConfig(machineConfig);
    if (!read.ok) throw new Error(read.problems[0]?.message);
    inputs.push(read.input);
  }
  const result = await renderPool({ pool: 'worker', inputs, osImages: {}, controllerVersion: 'bench' });
  const milliseconds = performance.now() - start;
  const { user, system } = process.threadCpuUsage(cpuBefore);
  if (!result.ok) throw new Error(result.problems[0]?.message);
  // The hashed bytes are outside the heap.
  return {
    milliseconds,
    cpu: (user + system) / 1000,
    megabytes: (allocatedBytes() - allocated + result.rendered.bytes) / 1e6,
  };
}

function allocatedBytes(): number {
  const bytes: unknown = Reflect.get(getHeapStatistics(), 'total_allocated_bytes');
  if (typeof bytes !== 'number') throw new Error('this Node does not count the bytes it allocates');
  return bytes;
}

async function foldTheirs(oracle: Oracle, text: string): Promise<Figures> {
  const all = JSON.parse(text) as MachineConfig[];
  const configs = all.map(({ spec }): object => spec?.config ?? {});
  const { result, report, stage } = await oracle.ask({ op: 'fold', configs, to: '3.5.0' });
  if (stage !== 'done') throw new Error(`the oracle refused the benchmark: ${JSON.stringify(report.slice(0, 3))}`);
  const { micros, allocatedBytes: bytes } = result as { micros: number; allocatedBytes: number };
  return { milliseconds: micros / 1000, megabytes: bytes / 1e6 };
}

async function repeat(times: number, measure: () => Promise<Figures>): Promise<Figures> {
  const runs: Figures[] = [];
  for (let run = 0; run < times; run += 1) runs.push(await measure());
  return {
    milliseconds: median(runs.map((each) => each.milliseconds)),
    cpu: median(runs.map((each) => each.cpu ?? Number.NaN)),
    megabytes: median(runs.map((each) => each.megabytes)),
  };
}

function show({ milliseconds, megabytes }: Figures): string {
  return `${milliseconds.toFixed(1).padStart(9)} ms ${megabytes.toFixed(1).padStart(8)} MB`;
}
