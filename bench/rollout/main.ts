// Rollouts over 1,000 and 5,000 nodes with maxUnavailable 10 % and 100 %, on a real control plane with the real
// controllers in a separate process. The machines are light: a model that writes to its Node what the daemon writes,
// and touches no disk. Every change drains and reboots every machine; there are no pods to evict.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { controllerUser, DEFAULT_NAMESPACE, machineConfigPools } from '@slipway/api';
import { type Client, createClient, createTransport, loadKubeconfig } from '@slipway/kube';
import { type ControlPlane, startControlPlane } from '@slipway/tools/controlplane';
import { tryRun } from '@slipway/tools/run';
import { type Comparison, compare } from '../comparison.ts';
import { requestsSince } from './audited.ts';
import { type ControllerProcess, percentile99, startControllers } from './controller-process.ts';
import { changeWorkers, startLightFleet } from './light-fleet.ts';

const SIZES = (process.env['SIZES'] ?? '1000,5000').split(',').map(Number);
/** None: only plans are measured. */
const LIMITS = (process.env['LIMITS'] ?? '10%,100%').split(',').filter((limit) => limit !== '');
const PLAN_MS = 2000;
/** The controllers involved in a rollout. */
const QUEUES = ['rollout', 'drain', 'machine-config-nodes'];

/**
 * The minimum of requests to the API server for one node that is drained and rebooted. Another process must observe
 * each before the next may happen, so no two can be combined:
 */
const LEAST = {
  'desiredConfig on the Node': 1,
  'the same on its MachineConfigNode, for users': 1,
  'cordon, before pods are listed': 1,
  'list its pods: a watch of all pods of a cluster would cost more': 1,
  'lastAppliedDrain, when the pods are gone': 1,
  'uncordon and lastAppliedDrain, when the machine is back': 1,
};
const least = Object.values(LEAST).reduce((sum, count) => sum + count, 0);
const USER = controllerUser(DEFAULT_NAMESPACE);

interface Rollout {
  readonly nodes: number;
  readonly limit: string;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly residentMegabytes: number;
  readonly peakMegabytes: number;
  readonly requestsPerNode: number;
  readonly requests: ReadonlyMap<string, number>;
  /** Time from event to reconcile for 99 of 100 changes, per controller. */
  readonly waitMs: Readonly<Record<string, number>>;
}

const results: Rollout[] = [];
const plans: { nodes: number; ms: number }[] = [];
for (const nodes of SIZES) await measure(nodes);
printResults();

async function measure(count: number): Promise<void> {
  const controlPlane = await startControlPlane({ audit: true });
  const directory = await mkdtemp(join(tmpdir(), 'slipway-bench-rollout-'));
  let controllers: ControllerProcess | undefined;
  try {
    await slipway('install', '--kubeconfig', controlPlane.kubeconfig);
    const groups = [`system:serviceaccounts:${DEFAULT_NAMESPACE}`, 'system:masters'];
    controllers = await startControllers(await controlPlane.kubeconfigFor({ user: USER, groups, name: 'operator' }));
    const client = createClient(createTransport(await loadKubeconfig([controlPlane.kubeconfig])));
    const begun = performance.now();
    const fleet = await startLightFleet(client, count, await newest(client));
    await untilUpdated(client, count, await newest(client));
    console.log(`${count} nodes joined in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
    // Earlier work is complete.
    await wait(2000);
    plans.push({ nodes: count, ms: await timePlans(controlPlane.kubeconfig, directory) });
    for (const limit of LIMITS) {
      const result = await rollOut(client, controllers, controlPlane, count, limit);
      results.push(result);
      console.log(line(result));
    }
    fleet.stop();
    await client.transport.close();
  } finally {
    await controllers?.stop();
    await controlPlane.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function rollOut(
  client: Client,
  controllers: ControllerProcess,
  { auditLog }: ControlPlane,
  nodes: number,
  limit: string,
): Promise<Rollout> {
  const body = { spec: { maxUnavailable: limit } };
  await client.patch(machineConfigPools, { name: 'worker' }, { type: 'merge', body }, {});
  const before = await newest(client);
  // Earlier work is complete: the first figures are those of an idle controller.
  await wait(2000);
  const [cpu, waits, since] = [await controllers.cpuMs(), await queueWaits(controllers), new Date()];
  const begun = performance.now();
  await changeWorkers(client, `99-worker-bench-${Number.parseInt(limit, 10)}`);
  while ((await newest(client)) === before) await wait(50);
  await untilUpdated(client, nodes, await newest(client));
  const seconds = (performance.now() - begun) / 1000;
  const cpuSeconds = ((await controllers.cpuMs()) - cpu) / 1000;
  const waitsNow = await queueWaits(controllers);
  const waitMs = Object.fromEntries(
    QUEUES.map((queue, at) => [queue, 1000 * percentile99(waits[at] ?? new Map(), waitsNow[at] ?? new Map())]),
  );
  const requests = await requestsSince(auditLog, since, USER);
  const total = [...requests.values()].reduce((sum, count) => sum + count, 0);
  return {
    nodes,
    limit,
    seconds,
    cpuSeconds,
    waitMs,
    requests,
    requestsPerNode: total / nodes,
    residentMegabytes: await controllers.residentMegabytes(),
    peakMegabytes: await controllers.peakMegabytes(),
  };
}

function queueWaits(controllers: ControllerProcess): Promise<Map<number, number>[]> {
  return Promise.all(QUEUES.map((queue) => controllers.queueWaits([queue])));
}

async function newest(client: Client): Promise<string> {
  for (;;) {
    const pool = await client.find(machineConfigPools, { name: 'worker' });
    const name = pool?.spec.configuration?.name;
    if (name !== undefined && name !== '') return name;
    await wait(100);
  }
}

async function untilUpdated(client: Client, nodes: number, config: string): Promise<void> {
  for (;;) {
    const { status } = await client.get(machineConfigPools, { name: 'worker' });
    const { updatedMachineCount = 0, machineCount = 0, configuration } = status ?? {};
    if (machineCount === nodes && updatedMachineCount === nodes && configuration?.name === config) return;
    await wait(100);
  }
}

/** Time from the call to the last line, as a user experiences it: the median of three. */
async function timePlans(kubeconfig: string, directory: string): Promise<number> {
  const file = join(directory, 'change.json');
  const spec = { config: { ignition: { version: '3.5.0' }, storage: { files: [{ path: '/etc/planned' }] } } };
  const metadata = { name: '99-worker-planned', labels: { 'machineconfiguration.openshift.io/role': 'worker' } };
  const kind = { apiVersion: 'machineconfiguration.openshift.io/v1', kind: 'MachineConfig' };
  await writeFile(file, JSON.stringify({ ...kind, metadata, spec }));
  const times: number[] = [];
  for (let run = 0; run < 3; run += 1) {
    const begun = performance.now();
    await slipway('plan', '-f', file, '--kubeconfig', kubeconfig);
    times.push(performance.now() - begun);
  }
  console.log(`plan: ${times.map((ms) => `${ms.toFixed(0)} ms`).join(', ')}`);
  return times.toSorted((a, b) => a - b)[1] ?? Infinity;
}

/** As a user calls it. `plan` reports its result in the exit code. */
async function slipway(...args: string[]): Promise<string> {
  const { code, out, err } = await tryRun(join(import.meta.dirname, '../../slipway'), args);
  if (![0, 2, 3].includes(code)) throw new Error(`slipway ${args.join(' ')}: ${err}`);
  return out;
}

function line(result: Rollout): string {
  const { nodes, limit, seconds, cpuSeconds, residentMegabytes, peakMegabytes, requestsPerNode, waitMs } = result;
  return [
    `${nodes} nodes, maxUnavailable ${limit.padStart(4)}:`,
    `${seconds.toFixed(1)} s,`,
    `controllers ${cpuSeconds.toFixed(1)} s of CPU, ${residentMegabytes.toFixed(0)} MB (at most ${peakMegabytes.toFixed(0)}),`,
    `${requestsPerNode.toFixed(2)} requests per node,`,
    `event to reconcile p99 ${Object.entries(waitMs)
      .map(([queue, ms]) => `${queue} ${ms === Infinity ? 'more than a minute' : `${ms.toFixed(0)} ms`}`)
      .join(', ')}`,
  ].join(' ');
}

function printResults(): void {
  console.log('\nthe minimum for one node:');
  for (const [what, count] of Object.entries(LEAST)) console.log(`  ${count}  ${what}`);
  for (const result of results) {
    console.log(`\n${line(result)}`);
    for (const [what, count] of [...result.requests].toSorted(([, a], [, b]) => b - a)) {
      console.log(`  ${(count / result.nodes).toFixed(3).padStart(7)} per node: ${what}`);
    }
  }
  for (const { nodes, ms } of plans) console.log(`plan for ${nodes} nodes: ${ms.toFixed(0)} ms`);
  for (const comparison of comparisons()) console.log(JSON.stringify(comparison));
}

function comparisons(): Comparison[] {
  const requests = results.map(({ nodes, limit, requestsPerNode }) =>
    compare('rollout', `requests per node, ${nodes} at ${limit}`, 'requests', 'less', {
      ours: requestsPerNode,
      theirs: least,
    }),
  );
  const planned = plans.map(({ nodes, ms }) =>
    compare('rollout', `plan for ${nodes} nodes`, 'ms', 'less', { ours: ms, theirs: PLAN_MS }),
  );
  const worst = Math.max(...results.map(({ requestsPerNode }) => requestsPerNode));
  const all = compare('rollout', 'requests per node', 'requests', 'less', { ours: worst, theirs: least });
  return [...requests, ...planned, ...(results.length === 0 ? [] : [all])];
}
