// The resources that a daemon uses: memory at rest and at peak, and processor time while idle. Measures the shipped
// program on a simulated machine, with a real control plane and a config of maximum size.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { controllerUser, DEFAULT_NAMESPACE, machineConfigs, nodeAnnotations, nodes, poolLabel } from '@slipway/api';
import { createDisk, writeCurrentConfig } from '@slipway/daemon';
import { canonicalJson, renderedName } from '@slipway/fleet';
import { type Client, createClient, createTransport, loadKubeconfig } from '@slipway/kube';
import { makeSimulatedMachine } from '@slipway/simulator';
import { bundleDaemon, daemonEnvironment, daemonFlags } from '@slipway/tools/bundle';
import { type ControlPlane, startControlPlane } from '@slipway/tools/controlplane';
import { run } from '@slipway/tools/run';
import { cpuMs } from '../server/usage.ts';
import { benchFiles, buildConfig } from './configs.ts';

const NODE = 'bench-1';
const POOL = 'bench';
/** About 1.4 MB of config: the largest that a cluster stores. */
const FILES = 420;
const IDLE_MS = 60_000;
/** For the first full check after the update. */
const SETTLE_MS = 30_000;
const sources = resolve(import.meta.dirname, '../../packages/slipway/src');
const main = join(sources, 'main.ts');
const entry = join(import.meta.dirname, 'rebooting-daemon.ts');

export interface DaemonUsage {
  idleMegabytes: number;
  peakMegabytes: number;
  /** Of one core. */
  idleCpuPercent: number;
}

/** After an update of all its files. */
export async function measureDaemon(): Promise<DaemonUsage> {
  const directory = await mkdtemp(join(tmpdir(), 'slipway-bench-daemon-'));
  const controlPlane = await startControlPlane();
  try {
    return await measureOn(controlPlane, directory);
  } finally {
    await controlPlane.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function measureOn(controlPlane: ControlPlane, directory: string): Promise<DaemonUsage> {
  await run(process.execPath, [main, 'install', '--kubeconfig', controlPlane.kubeconfig]);
  const groups = [`system:serviceaccounts:${DEFAULT_NAMESPACE}`, 'system:masters'];
  const operator = await controlPlane.kubeconfigFor({
    user: controllerUser(DEFAULT_NAMESPACE),
    groups,
    name: 'operator',
  });
  const client = createClient(createTransport(await loadKubeconfig([operator])));
  const configs = [0, 1].map((generation) => {
    const { spec } = buildConfig('', benchFiles(FILES, generation));
    return { metadata: { name: renderedName(POOL, canonicalJson(spec)), labels: { [poolLabel]: POOL } }, spec };
  });
  for (const config of configs) await client.create(machineConfigs, config);
  const root = join(directory, 'root');
  await mkdir(root);
  const files = createDisk({ root });
  await makeSimulatedMachine(files);
  await writeCurrentConfig(files, buildConfig('rendered-bench-none', []));
  await client.create(nodes, { metadata: { name: NODE } });
  const kubeconfig = await controlPlane.kubeconfigFor({
    user: `system:node:${NODE}`,
    groups: ['system:nodes'],
    name: NODE,
  });
  const { path } = await bundleDaemon({ entry, directory });
  const own = ['--node', NODE, '--root', root, '--simulate', '--kubeconfig', kubeconfig, '--probes', '127.0.0.1:0'];
  const machine = startMachine([...daemonFlags, path, 'daemon', ...own]);
  try {
    for (const { metadata } of configs) await bring(client, metadata.name);
    const idle = await measureIdle(machine.pid());
    return { ...idle, peakMegabytes: await machine.stop() };
  } finally {
    await machine.stop();
    await client.transport.close();
  }
}

interface Machine {
  /** Of the running daemon. */
  pid(): number;
  /** Peak resident memory of any of its daemons, in megabytes. */
  stop(): Promise<number>;
}

/** Starts the daemon, and again after each reboot, as an init system does. */
function startMachine(command: readonly string[]): Machine {
  const stopped = new AbortController();
  let [daemon, peak] = [start(), 0];

  function start(): ChildProcess {
    return spawn(process.execPath, command, {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, ...daemonEnvironment },
    });
  }

  async function run(): Promise<void> {
    for (;;) {
      // Its log; the last line is its peak in kB.
      let last = '';
      daemon.stdout?.setEncoding('utf8').on('data', (text: string) => {
        last = (last + text).slice(-100);
      });
      await once(daemon, 'close');
      peak = Math.max(peak, (Number(last.trimEnd().split('\n').at(-1)) * 1024) / 1e6);
      if (stopped.signal.aborted) return;
      if (Number.isNaN(peak)) throw new Error(`a daemon exited without reporting its peak: ${last}`);
      daemon = start();
    }
  }

  const running = run();
  return {
    pid: () => daemon.pid ?? 0,
    async stop() {
      stopped.abort();
      daemon.kill();
      await running;
      return peak;
    },
  };
}

/** Including the drain that the daemon requests. */
async function bring(client: Client, config: string): Promise<void> {
  const annotate = (annotations: object) =>
    client.patch(nodes, { name: NODE }, { type: 'merge', body: { metadata: { annotations } } }, {});
  await annotate({ [nodeAnnotations.desiredConfig]: config });
  const giveUpAt = performance.now() + 60_000;
  while (performance.now() < giveUpAt) {
    const { annotations = {} } = (await client.get(nodes, { name: NODE })).metadata;
    const asked = annotations[nodeAnnotations.desiredDrain] ?? '';
    const isDone =
      annotations[nodeAnnotations.state] === 'Done' && annotations[nodeAnnotations.currentConfig] === config;
    if (isDone && !asked.startsWith('drain-')) return;
    if (asked !== (annotations[nodeAnnotations.lastAppliedDrain] ?? '')) {
      await annotate({ [nodeAnnotations.lastAppliedDrain]: asked });
    }
    await wait(100);
  }
  throw new Error(`the node did not reach ${config}`);
}

async function measureIdle(pid: number): Promise<Omit<DaemonUsage, 'peakMegabytes'>> {
  await wait(SETTLE_MS);
  const [cpu, began] = [await cpuMs([pid]), performance.now()];
  await wait(IDLE_MS);
  const idleCpuPercent = (100 * ((await cpuMs([pid])) - cpu)) / (performance.now() - began);
  return { idleMegabytes: await residentMegabytes(pid), idleCpuPercent };
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return (Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024) / 1e6;
}
