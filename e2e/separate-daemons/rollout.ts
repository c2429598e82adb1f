// One rollout over a fleet of separate daemons, with a drain and a reboot of every machine: what must hold meanwhile and
// at its end, and what it costs.
import { readFile } from 'node:fs/promises';
import { nodeAnnotations, nodes } from '@slipway/api';
import { type AuditedRequest, isWrite, readAuditLog } from '@slipway/testing/audit';
import { specWithFile } from '@slipway/testing/builders';
import { expect } from 'vitest';
import type { DaemonFleet } from './daemon-fleet.ts';
import { observe } from './observer.ts';

/** A drained and rebooted machine reports about ten steps, each on its Node and on its MachineConfigNode. */
const MAX_WRITES = 30;

export async function expectRollout(fleet: DaemonFleet, maxUnavailable: number): Promise<void> {
  const before = (await fleet.pool()).spec.configuration?.name ?? '';
  await fleet.updated(before);
  const names = [...fleet.nodes.store.values()].map(({ metadata }) => metadata.name);
  const observer = observe(fleet.nodes);
  const since = new Date();
  const cpu = await readCpuSeconds(fleet);
  const begun = performance.now();
  const config = await fleet.change('99-worker-everywhere', specWithFile('/etc/motd.d/everywhere', 'hello\n'));
  await fleet.updated(config);
  const seconds = (performance.now() - begun) / 1000;
  const cpuSeconds = (await readCpuSeconds(fleet)) - cpu;
  observer.stop();

  expect(observer.mostUnavailable()).toBeLessThanOrEqual(maxUnavailable);
  for await (const node of fleet.client.list(nodes)) {
    expect(node.metadata.annotations).toMatchObject({
      [nodeAnnotations.currentConfig]: config,
      [nodeAnnotations.desiredConfig]: config,
      [nodeAnnotations.state]: 'Done',
    });
  }
  expect(names.filter((name) => (observer.reboots.get(name) ?? 0) > 1)).toEqual([]);
  // The kubelet of the shipped daemon does not notice its boots.
  const others = names.filter((name) => name !== fleet.shipped);
  expect(others.filter((name) => observer.boots.get(name)?.size !== 2)).toEqual([]);

  const requests = await readDaemonRequests(fleet, since);
  const writes = countByUser(requests.filter(isWrite));
  expect([...writes].filter(([, count]) => count > MAX_WRITES)).toEqual([]);
  const perNode = (some: readonly AuditedRequest[]): string => (some.length / names.length).toFixed(1);
  const watches = requests.filter(({ verb }) => verb === 'watch');
  console.log(
    [
      `${names.length} daemons with their own connections: rolled out in ${seconds.toFixed(1)} s`,
      `at most ${observer.mostUnavailable()} of ${maxUnavailable} allowed unavailable`,
      `requests per node: ${perNode(requests)}, of which ${perNode(requests.filter(isWrite))} writes (at most ${Math.max(...writes.values())}) and ${perNode(watches)} watches`,
      `API server: ${cpuSeconds.toFixed(1)} s of CPU`,
      `shipped daemon: at most ${(await fleet.shippedPeak()).toFixed(0)} MB`,
    ].join('; '),
  );
  for (const [what, count] of countRequests(requests)) {
    console.log(`  ${(count / names.length).toFixed(2).padStart(6)} per node: ${what}`);
  }
}

/** Of the daemons: the kubelets beside them are impersonated, and recorded under the administrator. */
async function readDaemonRequests({ controlPlane }: DaemonFleet, since: Date): Promise<AuditedRequest[]> {
  const requests = await readAuditLog(controlPlane.auditLog);
  return requests.filter(({ user, receivedAt }) => user.startsWith('system:node:') && receivedAt >= since);
}

function countByUser(requests: readonly AuditedRequest[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { user } of requests) counts.set(user, (counts.get(user) ?? 0) + 1);
  return counts;
}

function countRequests(requests: readonly AuditedRequest[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { verb, resource, code } of requests) {
    const what = `${verb} ${resource} ${code}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a);
}

const TICKS_PER_SECOND = 100;

async function readCpuSeconds({ controlPlane }: DaemonFleet): Promise<number> {
  const stat = await readFile(`/proc/${controlPlane.pids()['kube-apiserver']}/stat`, 'utf8');
  // The second field is the name in brackets and may contain anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
