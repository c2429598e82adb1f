// Restarts the API server under the connections of many daemons, and measures how they come back.
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { machineConfigNodes, nodes } from '@slipway/api';
import { forEachLimit } from '@slipway/base/concurrency';
import type { Client } from '@slipway/kube';
import { node } from '@slipway/testing/builders';
import type { ControlPlane } from '@slipway/tools/controlplane';
import { cpuMs } from '../server/usage.ts';
import type { FleetProgress, FleetStart, Side } from './daemon-clients.ts';

export interface RestartOptions {
  readonly side: Side;
  readonly daemons: number;
  /** Processes that share the daemons. */
  readonly workers: number;
  readonly spreadMs: number;
  /** Gives up after this time. */
  readonly withinMs: number;
}

export interface RestartResult {
  readonly connectionsPerDaemon: number;
  readonly watchesPerDaemon: number;
  /** How long there was no API server. */
  readonly downSeconds: number;
  /** From the moment the API server is ready again until 99 of 100 daemons have all their watches. */
  readonly secondsTo99: number;
  readonly secondsToAll: number;
  readonly handshakes: number;
  readonly peakHandshakesPerSecond: number;
  /** Of the API server, from the moment it is ready until all are back. */
  readonly cpuSeconds: number;
  readonly throttled: number;
}

const nodeName = (index: number): string => `fleet-${index}`;

/** A Node and a MachineConfigNode for each daemon. */
export async function createFleetNodes(client: Client, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => nodeName(index));
  await forEachLimit(names, 32, async (name) => {
    await client.create(nodes, node(name));
    const spec = { node: { name }, pool: { name: 'worker' }, configVersion: { desired: 'rendered-worker' } };
    await client.create(machineConfigNodes, { metadata: { name }, spec });
  });
  return names;
}

export async function measureRestart(controlPlane: ControlPlane, options: RestartOptions): Promise<RestartResult> {
  const fleet = startFleet(controlPlane.kubeconfig, options);
  try {
    await fleet.until(options.daemons, options.withinMs);
    const { connections, watchesPerDaemon } = fleet.take();
    const killedAt = Date.now();
    await controlPlane.killApiServer();
    await controlPlane.startApiServer();
    const readyAt = Date.now();
    const pids = [controlPlane.pids()['kube-apiserver'] ?? 0];
    const cpuBefore = await cpuMs(pids);
    const at99 = await fleet.until(Math.ceil(options.daemons * 0.99), options.withinMs);
    const atAll = await fleet.until(options.daemons, options.withinMs);
    const cpuSeconds = ((await cpuMs(pids)) - cpuBefore) / 1000;
    const after = fleet.take();
    return {
      connectionsPerDaemon: connections / options.daemons,
      watchesPerDaemon,
      downSeconds: (readyAt - killedAt) / 1000,
      secondsTo99: Math.max(0, at99 - readyAt) / 1000,
      secondsToAll: Math.max(0, atAll - readyAt) / 1000,
      handshakes: after.handshakes.length,
      peakHandshakesPerSecond: countMostPerSecond(after.handshakes),
      cpuSeconds,
      throttled: after.throttled,
    };
  } finally {
    fleet.stop();
  }
}

interface Fleet {
  /** Resolves to the time at which this many daemons have all their watches. */
  until(open: number, withinMs: number): Promise<number>;
  /** What happened since the last call. */
  take(): Pick<FleetProgress, 'handshakes' | 'throttled' | 'watchesPerDaemon' | 'connections'>;
  stop(): void;
}

function startFleet(kubeconfig: string, { side, daemons, workers, spreadMs }: RestartOptions): Fleet {
  const last = new Map<ChildProcess, FleetProgress>();
  let handshakes: number[] = [];
  let throttled = 0;
  const names = Array.from({ length: daemons }, (_, index) => nodeName(index));
  const children = Array.from({ length: workers }, (_, index) => {
    const child = fork(join(import.meta.dirname, 'worker.ts'));
    const nodeNames = names.filter((_, each) => each % workers === index);
    child.send({ side, kubeconfig, nodeNames, spreadMs } satisfies FleetStart);
    child.on('message', (progress: FleetProgress) => {
      last.set(child, progress);
      handshakes.push(...progress.handshakes);
      throttled += progress.throttled;
    });
    return child;
  });
  const countOpen = (): number => [...last.values()].reduce((sum, { open }) => sum + open, 0);
  return {
    async until(open, withinMs) {
      const giveUpAt = Date.now() + withinMs;
      while (countOpen() < open) {
        if (Date.now() > giveUpAt) throw new Error(`${countOpen()} of ${open} daemons are back after ${withinMs} ms`);
        await wait(20);
      }
      return Date.now();
    },
    take() {
      const all = [...last.values()];
      const connections = all.reduce((sum, each) => sum + each.connections, 0);
      const taken = { handshakes, throttled, connections, watchesPerDaemon: all[0]?.watchesPerDaemon ?? 0 };
      handshakes = [];
      throttled = 0;
      return taken;
    },
    stop() {
      for (const child of children) child.kill('SIGKILL');
    },
  };
}

/** In any second, not only in those of the clock. */
export function countMostPerSecond(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  let most = 0;
  let from = 0;
  for (const [index, time] of sorted.entries()) {
    while ((sorted[from] ?? time) <= time - 1000) from += 1;
    most = Math.max(most, index - from + 1);
  }
  return most;
}
