// A fleet in which every daemon is on its own, as on real machines: its own connections, its own watches and the
// certificate of its node. Only the machines are simulated, and several of them share a process.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type MachineConfigPool, machineConfigPools, machineConfigs, type Node, nodes } from '@slipway/api';
import { forEachLimit } from '@slipway/base/concurrency';
import { type Client, createInformer, type Informer } from '@slipway/kube';
import { machineConfig, type MachineConfigSpec } from '@slipway/testing/builders';
import { connect } from '@slipway/testing/control-plane';
import { type RunningProcess, startProgram } from '@slipway/testing/slipway-process';
import { until } from '@slipway/testing/wait';
import { bundleDaemon, daemonFlags } from '@slipway/tools/bundle';
import type { ControlPlane } from '@slipway/tools/controlplane';
import { expect } from 'vitest';
import { type Fleet, startFleet } from '../first-boot/fleet.ts';
import type { FleetProcessOptions } from './fleet-process.ts';

export interface DaemonFleetOptions {
  readonly machines: number;
  readonly processes: number;
  readonly maxUnavailable: string;
  readonly bootMs: number;
  /** For all machines to join, and for a rollout. */
  readonly withinMs: number;
}

export interface DaemonFleet {
  readonly controlPlane: ControlPlane;
  /** An administrator's. */
  readonly client: Client;
  readonly nodes: Informer<Node>;
  /** The machine whose daemon runs as the shipped program, in its own process. */
  readonly shipped: string;
  pool(): Promise<MachineConfigPool>;
  /** Every machine of the pool has this config, and the pool says so. */
  updated(config: string): Promise<void>;
  /** Creates a MachineConfig for the workers. Resolves to the rendered config. */
  change(name: string, spec: MachineConfigSpec): Promise<string>;
  /** The peak so far, in megabytes. */
  shippedPeak(): Promise<number>;
  stop(): Promise<void>;
}

const fleetProcess = resolve(import.meta.dirname, 'fleet-process.ts');
const shippedEntry = resolve(import.meta.dirname, '../../packages/slipway/src/testing/simulated-daemon.ts');
const SHIPPED = 'worker-0';
const AT_ONCE = 16;

export async function startDaemonFleet(options: DaemonFleetOptions): Promise<DaemonFleet> {
  const cluster = await startFleet();
  const directory = await mkdtemp(join(tmpdir(), 'slipway-separate-daemons-'));
  const programs: RunningProcess[] = [];
  const ended = new AbortController();
  const client = await connect(cluster.controlPlane.kubeconfig);
  const informer = createInformer<Node>(client.transport, { resource: nodes });

  async function stop(): Promise<void> {
    ended.abort();
    await Promise.all(programs.map((program) => program.stop()));
    await client.transport.close();
    await cluster.stop();
    await rm(directory, { recursive: true, force: true });
  }

  try {
    await setMaxUnavailable(client, options.maxUnavailable);
    informer.start(ended.signal);
    await informer.synced;
    const kubeconfigs = await writeKubeconfigs(cluster, options.machines);
    const started = startFleetProcesses(cluster, kubeconfigs, directory, options);
    programs.push(...started);
    await Promise.all(started.map((program) => program.saw(/^ready$/m)));
    const daemon = await startShipped(
      join(directory, '0', SHIPPED),
      join(kubeconfigs, `${SHIPPED}.kubeconfig`),
      directory,
    );
    programs.push(daemon);
    const pool = () => client.get(machineConfigPools, { name: 'worker' });
    return {
      controlPlane: cluster.controlPlane,
      client,
      nodes: informer,
      shipped: SHIPPED,
      pool,
      updated: (config) => until(async () => expectUpdated(await pool(), config, options.machines), options.withinMs),
      async change(name, spec) {
        const before = (await pool()).spec.configuration?.name ?? '';
        await client.create(machineConfigs, machineConfig(name, 'worker', spec));
        return cluster.renderedOtherThan('worker', before);
      },
      shippedPeak: () => readPeakMegabytes(daemon),
      stop,
    };
  } catch (error) {
    console.log(programs.map((program) => program.err().slice(0, 5000)).join('\n'));
    await stop();
    throw error;
  }
}

/** The pool appears when the controllers have started. */
const setMaxUnavailable = (client: Client, maxUnavailable: string): Promise<unknown> =>
  until(() =>
    client.patch(machineConfigPools, { name: 'worker' }, { type: 'merge', body: { spec: { maxUnavailable } } }, {}),
  );

/** Resolves to their directory. */
async function writeKubeconfigs({ kubeconfigFor }: Fleet, machines: number): Promise<string> {
  const names = Array.from({ length: machines }, (_, index) => `worker-${index}`);
  let path = '';
  await forEachLimit(names, AT_ONCE, async (name) => {
    path = await kubeconfigFor({ user: `system:node:${name}`, groups: ['system:nodes'], name });
  });
  return dirname(path);
}

function startFleetProcesses(
  { controlPlane: { kubeconfig } }: Fleet,
  kubeconfigs: string,
  directory: string,
  { machines, processes, bootMs }: DaemonFleetOptions,
): RunningProcess[] {
  return Array.from({ length: processes }, (_, index) => {
    const first = Math.floor((machines * index) / processes);
    const next = Math.floor((machines * (index + 1)) / processes);
    const options: FleetProcessOptions = {
      kubeconfig,
      kubeconfigs,
      directory: join(directory, String(index)),
      first,
      machines: next - first,
      bootMs,
      withoutDaemon: index === 0 ? SHIPPED : null,
    };
    return startProgram(fleetProcess, [JSON.stringify(options)]);
  });
}

async function startShipped(root: string, kubeconfig: string, directory: string): Promise<RunningProcess> {
  const { path } = await bundleDaemon({ entry: shippedEntry, directory });
  const own = ['--node', SHIPPED, '--root', root, '--simulate', '--kubeconfig', kubeconfig, '--probes', '127.0.0.1:0'];
  return startProgram(path, ['daemon', ...own], daemonFlags);
}

function expectUpdated({ status }: MachineConfigPool, config: string, machines: number): void {
  expect({ ...status, conditions: status?.conditions?.filter(({ type }) => type === 'Updated') }).toMatchObject({
    configuration: { name: config },
    machineCount: machines,
    updatedMachineCount: machines,
    unavailableMachineCount: 0,
    conditions: [{ status: 'True' }],
  });
}

async function readPeakMegabytes({ child }: RunningProcess): Promise<number> {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(await readFile(`/proc/${child.pid}/status`, 'utf8')) ?? [];
  return (Number(kilobytes) * 1024) / 1e6;
}
