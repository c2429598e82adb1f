// What alerts are raised by: the metrics of the real controller, on an API in memory, in virtual time.
import { machineConfigPools, type Node, nodeAnnotations, nodes, renderProblemsAnnotation } from '@slipway/api';
import { encodeProblems } from '@slipway/fleet';
import { sampleNode } from '@slipway/fleet/testing';
import { createMetrics, type Resource } from '@slipway/kube';
import { machineConfigPool } from '@slipway/testing/builders';
import { expect, it } from 'vitest';
import { startCalmProcess } from '../testing/simulation/controller-process.ts';
import { createMemoryApi } from '../testing/simulation/memory-api.ts';
import { createVirtualTime } from '../testing/simulation/virtual-time.ts';
import { rolloutController } from './controller.ts';

const names = ['mco_degraded_machine_count', 'slipway_pool_condition', 'slipway_pool_problem_machines'];

/** The pool worker with target rendered-worker-2. */
function startRollout(fleet: readonly Node[], served = names) {
  const time = createVirtualTime(Date.parse('2026-01-02T03:04:05Z'));
  const api = createMemoryApi(time.now);
  const metrics = createMetrics();
  api.create(machineConfigPools, machineConfigPool('worker', { configuration: { name: 'rendered-worker-2' } }));
  for (const node of fleet) api.create(nodes, node);
  const process = startCalmProcess({ api, time, controllers: [rolloutController({ metrics })] });
  const annotate = (resource: Resource, name: string, annotations: Record<string, string>) =>
    api.patch(resource, { name }, { type: 'merge', body: { metadata: { annotations } } });
  const scrape = async (): Promise<string[]> => {
    await time.runUntil(time.now() + 10_000);
    const lines = (await metrics.registry.metrics()).split('\n');
    return lines.filter((line) => served.some((name) => line.startsWith(`${name}{`))).toSorted();
  };
  return { api, process, annotate, scrape };
}

const condition = (type: string, reason: string) =>
  `slipway_pool_condition{pool="worker",condition="${type}",reason="${reason}"} 1`;
const counts = (degraded: number, drifted: number, unreported: number) => [
  `mco_degraded_machine_count{pool="worker"} ${degraded}`,
  `slipway_pool_problem_machines{pool="worker",problem="drifted"} ${drifted}`,
  `slipway_pool_problem_machines{pool="worker",problem="unreported"} ${unreported}`,
];
const sorted = (...lines: readonly string[]): string[] => lines.toSorted();

it('the conditions of a pool are served with their reasons, while they are True', async () => {
  const { annotate, scrape } = startRollout([sampleNode('a'), sampleNode('b')]);
  expect(await scrape()).toEqual(sorted(...counts(0, 0, 0), condition('Updating', 'RollingOut')));
  annotate(nodes, 'a', { [nodeAnnotations.state]: 'Degraded', [nodeAnnotations.reason]: 'no space left' });
  const halted = [condition('Updating', 'RolloutHalted'), condition('NodeDegraded', 'MachinesFailed')];
  expect(await scrape()).toEqual(sorted(...counts(1, 0, 0), ...halted, condition('Degraded', 'RolloutHalted')));
  const problem = { code: 'SLW_RENDER_CONFLICT', message: 'two files' };
  annotate(machineConfigPools, 'worker', { [renderProblemsAnnotation]: encodeProblems([problem]) });
  const unrendered = [condition('RenderDegraded', 'RenderFailed'), condition('Degraded', 'RenderFailed')];
  expect(await scrape()).toEqual(sorted(...counts(1, 0, 0), ...halted, ...unrendered));
});

it('machines that no update reaches are counted by their problem', async () => {
  const { metadata, ...joining } = sampleNode('joining');
  const { [nodeAnnotations.currentConfig]: _, ...annotations } = metadata.annotations ?? {};
  const drift = { state: 'Degraded', reason: 'file /etc/motd differs [SLW_DAEMON_DRIFT]' };
  const { scrape } = startRollout([
    sampleNode('a'),
    sampleNode('b', drift),
    sampleNode('c', drift),
    { ...joining, metadata: { ...metadata, annotations } },
  ]);
  expect(await scrape()).toEqual(expect.arrayContaining(counts(2, 2, 1)));
});

it('a node without a pool is served from its first moment to its last, also in a fleet where nothing else happens', async () => {
  const { api, scrape } = startRollout([sampleNode('a')], ['mcc_pool_alert']);
  expect(await scrape()).toEqual([]);
  const { metadata } = sampleNode('stray');
  api.create(nodes, { metadata: { ...metadata, labels: {} } });
  expect(await scrape()).toEqual(['mcc_pool_alert{node="stray"} 1']);
  api.delete(nodes, { name: 'stray' });
  expect(await scrape()).toEqual([]);
});

it('a process that no longer leads serves nothing about pools', async () => {
  const { scrape, process } = startRollout([sampleNode('a')]);
  expect(await scrape()).not.toEqual([]);
  process.kill();
  expect(await scrape()).toEqual([]);
});
