import { createMetrics } from '@slipway/kube';
import { expect, it } from 'vitest';
import { createStreamMetrics } from './metrics.ts';

async function scrape(set: (metrics: ReturnType<typeof createStreamMetrics>) => void): Promise<string[]> {
  const served = createMetrics();
  set(createStreamMetrics(served));
  return (await served.registry.metrics()).split('\n').filter((line) => line.startsWith('slipway_os_stream'));
}

const blocked = { stream: 'rhel-9', state: 'blocked' } as const;

it('pools are counted by stream and state, problems by code', async () => {
  const lines = await scrape((metrics) => {
    metrics.pools([blocked, blocked, { stream: 'rhel-10', state: 'supported' }]);
    metrics.problems([{ code: 'SLW_STREAM_SOURCE_FAILED', message: 'release image: gone' }]);
  });
  expect(lines).toEqual([
    'slipway_os_stream_problems{code="SLW_STREAM_SOURCE_FAILED"} 1',
    'slipway_os_stream_pools{stream="rhel-9",state="blocked"} 2',
    'slipway_os_stream_pools{stream="rhel-10",state="supported"} 1',
  ]);
});

it('what has ended is no longer served', async () => {
  const lines = await scrape((metrics) => {
    metrics.pools([blocked]);
    metrics.problems([{ code: 'SLW_STREAM_SOURCE_FAILED', message: 'release image: gone' }]);
    metrics.pools([]);
    metrics.problems([]);
  });
  expect(lines).toEqual([]);
});

it('a process that no longer leads serves nothing', async () => {
  const lines = await scrape((metrics) => {
    metrics.pools([blocked]);
    metrics.problems([{ code: 'SLW_STREAM_SOURCE_FAILED', message: 'release image: gone' }]);
    metrics.reset();
  });
  expect(lines).toEqual([]);
});
