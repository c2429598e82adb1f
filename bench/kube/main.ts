import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient, createTransport, loadKubeconfig } from '@slipway/kube';
import type { Client } from '@slipway/kube';
import { startControlPlane } from '@slipway/tools/controlplane';
import { compare, median } from '../comparison.ts';
import type { Report } from './contender.ts';
import { startHoldProxy } from './hold-proxy.ts';
import type { HoldProxy } from './hold-proxy.ts';
import { benchNode, nodes } from './nodes.ts';

const count = Number(process.env.BENCH_NODES ?? 10_000);
const changes = Number(process.env.BENCH_CHANGES ?? 3_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);

type Side = 'ours' | 'theirs';
type Synced = Extract<Report, { type: 'synced' }>;
type Watching = Extract<Report, { type: 'watching' }>;
type CaughtUp = Extract<Report, { type: 'caughtUp' }>;

async function inParallel(total: number, width: number, step: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < total; i = next++) await step(i);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

async function nextReport<T extends Report>(child: ChildProcess, type: T['type']): Promise<T> {
  for (;;) {
    const [message] = (await once(child, 'message', { signal: AbortSignal.timeout(300_000) })) as [Report];
    if (message.type === type) return message as T;
  }
}

let turn = 0;

/** A kubelet's heartbeat, as a watcher sees it. */
async function change(client: Client, i: number): Promise<void> {
  turn += 1;
  const body = { metadata: { annotations: { 'example.com/turn': String(turn) } } };
  await client.patch(nodes, { name: benchNode(i % count).metadata.name }, { type: 'merge', body }, {});
}

/** Changes a node periodically until the other side has observed it: its watch is open. */
async function untilWatching(child: ChildProcess, client: Client): Promise<void> {
  const watching = nextReport<Watching>(child, 'watching');
  const timer = setInterval(() => void change(client, 0), 500);
  await watching;
  clearInterval(timer);
  // The last of these changes may still be in transit; it must not be counted.
  await wait(2000);
}

interface Result {
  synced: Synced;
  caughtUp: CaughtUp;
}

interface Ways {
  direct: string;
  throughProxy: string;
  proxy: HoldProxy;
}

/** Runs one side in a separate process and always ends it. */
async function withContender<T>(side: Side, kubeconfig: string, use: (child: ChildProcess) => Promise<T>): Promise<T> {
  const child = fork(join(import.meta.dirname, `${side}.ts`), [kubeconfig]);
  try {
    return await use(child);
  } finally {
    child.kill('SIGKILL');
  }
}

async function sync(side: Side, child: ChildProcess): Promise<Synced> {
  const synced = await nextReport<Synced>(child, 'synced');
  if (synced.objects !== count) throw new Error(`${side} cached ${synced.objects} of ${count} nodes`);
  return synced;
}

async function round(side: Side, ways: Ways, client: Client): Promise<Result> {
  const synced = await withContender(side, ways.direct, (child) => sync(side, child));
  const caughtUp = await withContender(side, ways.throughProxy, async (child) => {
    await sync(side, child);
    await untilWatching(child, client);
    child.send({ changes });
    ways.proxy.hold();
    await inParallel(changes, 24, (i) => change(client, i));
    const report = nextReport<CaughtUp>(child, 'caughtUp');
    ways.proxy.release();
    return report;
  });
  console.log(
    `${side.padEnd(6)} synced in ${Math.round(synced.ms)} ms at ${synced.rssMb} MB; ${changes} changes in ${Math.round(caughtUp.ms)} ms; ` +
      `RSS ${caughtUp.rssMb} MB, peak ${caughtUp.peakRssMb} MB; longest event-loop stall ${caughtUp.stallMs} ms`,
  );
  return { synced, caughtUp };
}

async function fill(client: Client): Promise<void> {
  const started = performance.now();
  let bytes = 0;
  await inParallel(count, 24, async (i) => {
    const node = await client.create(nodes, benchNode(i), { fieldManager: 'kubelet' });
    if (i === 0) bytes = JSON.stringify(node).length;
  });
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`${count} Nodes of ${(bytes / 1000).toFixed(1)} kB created in ${seconds} s`);
}

async function viaProxy(kubeconfig: string, port: number, proxyPort: number): Promise<string> {
  const path = `${kubeconfig}.proxy`;
  const text = (await readFile(kubeconfig, 'utf8')).replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${proxyPort}`);
  await writeFile(path, text, { mode: 0o600 });
  return path;
}

const controlPlane = await startControlPlane();
try {
  const transport = createTransport(await loadKubeconfig([controlPlane.kubeconfig]));
  const client = createClient(transport);
  await fill(client);
  const proxy = await startHoldProxy(controlPlane.port);
  const direct = controlPlane.kubeconfig;
  const ways = { direct, throughProxy: await viaProxy(direct, controlPlane.port, proxy.port), proxy };
  const results: Record<Side, Result[]> = { ours: [], theirs: [] };
  for (let i = 0; i < rounds; i += 1) {
    for (const side of ['ours', 'theirs'] as const) results[side].push(await round(side, ways, client));
  }
  const both = (value: (result: Result) => number): { ours: number; theirs: number } => ({
    ours: median(results.ours.map(value)),
    theirs: median(results.theirs.map(value)),
  });
  const lines = [
    compare(
      'kube',
      'sync time',
      'ms',
      'less',
      both((r) => r.synced.ms),
    ),
    compare(
      'kube',
      'events per second',
      'events/s',
      'more',
      both((r) => (changes - 1) / (r.caughtUp.ms / 1000)),
    ),
    compare(
      'kube',
      'rss',
      'MB',
      'less',
      both((r) => r.caughtUp.rssMb),
    ),
    compare(
      'kube',
      'peak rss',
      'MB',
      'less',
      both((r) => r.caughtUp.peakRssMb),
    ),
    compare(
      'kube',
      'longest event-loop stall',
      'ms',
      'less',
      both((r) => r.caughtUp.stallMs),
    ),
  ];
  for (const line of lines) console.log(JSON.stringify(line));
  proxy.close();
  await transport.close();
} finally {
  await controlPlane.stop();
}
