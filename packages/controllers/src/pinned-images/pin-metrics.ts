import type { PinSummary } from '@slipway/fleet';
import type { Metrics } from '@slipway/kube';
import { Gauge } from 'prom-client';

export interface PinMetrics {
  /** Null: the pool has no sets. */
  observe(pool: string, summary: PinSummary | null): void;
}

export function createPinMetrics({ registry }: Pick<Metrics, 'registry'>): PinMetrics {
  const machines = new Gauge({
    name: 'slipway_pinned_image_nodes',
    help: 'Machines of a pool that hold all its pinned images, that fail to, and that are on their way.',
    labelNames: ['pool', 'state'] as const,
    registers: [registry],
  });
  return {
    observe(pool, summary) {
      const { machines: all = 0, updated = 0, degraded = 0 } = summary ?? {};
      const states = { updated, degraded, progressing: all - updated - degraded };
      for (const [state, count] of Object.entries(states)) {
        if (summary === null) machines.remove({ pool, state });
        else machines.set({ pool, state }, count);
      }
    },
  };
}
