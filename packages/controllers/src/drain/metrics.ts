// The metric of drains, under the name that existing dashboards and alerts use.
import type { Metrics } from '@slipway/kube';
import { Gauge } from 'prom-client';

export interface DrainMetrics {
  /** A drain that takes too long, or no longer does. */
  overdue(node: string, isOverdue: boolean): void;
  reset(): void;
}

export function createDrainMetrics({ registry }: Pick<Metrics, 'registry'>): DrainMetrics {
  const gauge = new Gauge({
    name: 'mcc_drain_err',
    help: '1 for a node that has been draining for more than an hour.',
    labelNames: ['node'],
    registers: [registry],
  });
  return {
    overdue(node, isOverdue) {
      if (isOverdue) gauge.set({ node }, 1);
      else gauge.remove({ node });
    },
    reset: () => gauge.reset(),
  };
}
