// What can be measured of bare-metal hosts and their DataImages.
import type { Metrics } from '@slipway/kube';
import { Counter, Gauge } from 'prom-client';

export interface HostMetrics {
  called(call: string, outcome: 'accepted' | 'refused' | 'unsure'): void;
  /** Failures in a row to change the drive of this host. */
  failures(key: string, count: number): void;
  reset(): void;
}

export function createHostMetrics({ registry }: Pick<Metrics, 'registry'>): HostMetrics {
  const calls = new Counter({
    name: 'slipway_ironic_calls_total',
    help: 'Calls to Ironic that change something, by how they ended.',
    labelNames: ['call', 'outcome'],
    registers: [registry],
  });
  const failures = new Gauge({
    name: 'slipway_data_image_failures',
    help: 'Failures in a row to attach or detach a DataImage.',
    labelNames: ['host'],
    registers: [registry],
  });
  return {
    called: (call, outcome) => calls.inc({ call, outcome }),
    failures(host, count) {
      if (count > 0) failures.set({ host }, count);
      else failures.remove({ host });
    },
    reset: () => failures.reset(),
  };
}
