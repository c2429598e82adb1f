// What can be measured of drains, by the name that dashboards and alerts for such fleets ask for.
import type { Metrics } from '@slipway/kube';
import { Gauge } from 'prom-client';

export interface DrainMetrics {
  /** A drain that takes long, or does no more. */
  overdue(node: string, isOverdue: boolean): void;
  reset(): void;
}

export function createDrainMetrics({ registry }: Pick<Metrics, 'registry'>): DrainMetrics {
  const gauge = new Gauge({
    name: 'mcc_drain_err',
    help: '1 for a node whose drain takes longer than an hour.',
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
