import { machineConfigPools } from '@slipway/api';
import { createMetrics } from '@slipway/kube';
import { machineConfigPool } from '@slipway/testing/builders';
import { expect, it } from 'vitest';
import { startCalmProcess } from '../testing/simulation/controller-process.ts';
import { createMemoryApi } from '../testing/simulation/memory-api.ts';
import { createVirtualTime } from '../testing/simulation/virtual-time.ts';
import { summariesController } from './summaries-controller.ts';

it('a process that no longer leads serves nothing about the images of pools', async () => {
  const time = createVirtualTime(Date.parse('2026-01-02T03:04:05Z'));
  const api = createMemoryApi(time.now);
  const metrics = createMetrics();
  api.create(machineConfigPools, machineConfigPool('worker', { pinnedImageSets: [{ name: 'missing' }] }));
  const process = startCalmProcess({ api, time, controllers: [summariesController(metrics)] });
  const scrape = async (): Promise<string> => {
    await time.runUntil(time.now() + 10_000);
    return metrics.registry.metrics();
  };
  expect(await scrape()).toContain('slipway_pinned_image_nodes{pool="worker",state="updated"} 0');
  process.kill();
  expect(await scrape()).not.toContain('slipway_pinned_image_nodes{');
});
