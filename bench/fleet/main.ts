// 2,000 daemons' connections to one API server that is killed and started again: one HTTP/2 connection with two watches
// and a spread return, against four HTTP/1.1 connections that all come back at once.
import { join } from 'node:path';
import { DEFAULT_NAMESPACE } from '@slipway/api';
import { createClient, createTransport, loadKubeconfig } from '@slipway/kube';
import { type ControlPlane, startControlPlane } from '@slipway/tools/controlplane';
import { run } from '@slipway/tools/run';
import { compare, median } from '../comparison.ts';
import type { Side } from './daemon-clients.ts';
import { createFleetNodes, measureRestart, type RestartResult } from './restart.ts';

const DAEMONS = Number(process.env['BENCH_DAEMONS'] ?? 2000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 1);
const WORKERS = 4;
const SPREAD_MS = 10_000;
const WITHIN_MS = 300_000;
/** The fleet that the figures are worked out for. */
const LARGE = 10_000;

const controlPlane = await startControlPlane();
try {
  await fill(controlPlane);
  const results: Record<Side, RestartResult[]> = { ours: [], theirs: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const side of ['theirs', 'ours'] as const) {
      const options = { side, daemons: DAEMONS, workers: WORKERS, spreadMs: SPREAD_MS, withinMs: WITHIN_MS };
      const result = await measureRestart(controlPlane, options);
      results[side].push(result);
      console.log(describeResult(side, result));
    }
  }
  report(results);
} finally {
  await controlPlane.stop();
}

async function fill(at: ControlPlane): Promise<void> {
  await run(join(import.meta.dirname, '../../slipway'), ['install', '--kubeconfig', at.kubeconfig]);
  // MachineConfigNodes are written by the controllers alone.
  const user = `system:serviceaccount:${DEFAULT_NAMESPACE}:machine-config-controller`;
  const groups = [`system:serviceaccounts:${DEFAULT_NAMESPACE}`, 'system:masters'];
  const transport = createTransport(await loadKubeconfig([await at.kubeconfigFor({ user, groups, name: 'operator' })]));
  await createFleetNodes(createClient(transport), DAEMONS);
  await transport.close();
}

function describeResult(side: Side, result: RestartResult): string {
  const seconds = (value: number): string => `${value.toFixed(1)} s`;
  return (
    `${side.padEnd(6)} ${DAEMONS} daemons, ${result.connectionsPerDaemon.toFixed(1)} connections and ${result.watchesPerDaemon} watches each; ` +
    `no API server for ${seconds(result.downSeconds)}; then 99 % back after ${seconds(result.secondsTo99)}, all after ${seconds(result.secondsToAll)}; ` +
    `${result.handshakes} handshakes, at most ${result.peakHandshakesPerSecond} per second; ` +
    `API server ${seconds(result.cpuSeconds)} of CPU; ${result.throttled} times 429`
  );
}

function report(results: Record<Side, RestartResult[]>): void {
  const both = (value: (result: RestartResult) => number): { ours: number; theirs: number } => ({
    ours: median(results.ours.map(value)),
    theirs: median(results.theirs.map(value)),
  });
  const cpu = both((each) => each.cpuSeconds);
  const peak = both((each) => each.peakHandshakesPerSecond);
  const scale = LARGE / DAEMONS;
  for (const side of ['theirs', 'ours'] as const) {
    const [cpuLarge, perSecond] = [cpu[side] * scale, peak[side] * scale];
    const connections = both((each) => each.connectionsPerDaemon)[side] * LARGE;
    // Handshakes cost processor time, and all of them have to be paid before the last daemon is back.
    console.log(
      `${side.padEnd(6)} worked out for ${LARGE} daemons: ${Math.round(connections)} connections; ${cpuLarge.toFixed(0)} s of CPU for the return, ` +
        `so at least ${(cpuLarge / 8).toFixed(0)} s on an API server with 8 cores${side === 'ours' ? `, within a spread of ${SPREAD_MS / 1000} s` : ''}; ` +
        `${Math.round(perSecond)} handshakes per second wanted at the peak`,
    );
  }
  const lines = [
    compare(
      'fleet',
      'connections per daemon',
      'connections',
      'less',
      both((each) => each.connectionsPerDaemon),
    ),
    compare(
      'fleet',
      'time to reconnect',
      's',
      'less',
      both((each) => each.secondsTo99),
    ),
    compare('fleet', 'peak handshakes', 'handshakes/s', 'less', peak),
    compare('fleet', 'API server cpu', 's', 'less', cpu),
  ];
  for (const line of lines) console.log(JSON.stringify(line));
}
