// What can be measured of pools, by the names that dashboards and alerts for such fleets ask for.
import type { NodeFacts, PoolStatus } from '@slipway/fleet';
import type { Metrics } from '@slipway/kube';
import { Gauge } from 'prom-client';

export interface RolloutMetrics {
  observe(pool: string, counts: PoolStatus): void;
  /** Machines that no pool has, or that several have. */
  homeless(nodes: readonly Pick<NodeFacts, 'name'>[]): void;
  forget(pool: string): void;
}

export function createRolloutMetrics({ registry }: Pick<Metrics, 'registry'>): RolloutMetrics {
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]): Gauge<L> =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const counts = {
    machineCount: gauge('mco_machine_count', 'Machines of a pool.', ['pool']),
    updatedMachineCount: gauge('mco_updated_machine_count', 'Machines that have their pool’s config.', ['pool']),
    degradedMachineCount: gauge('mco_degraded_machine_count', 'Machines that could not apply their config.', ['pool']),
    unavailableMachineCount: gauge('mco_unavailable_machine_count', 'Machines out of service.', ['pool']),
  };
  const alert = gauge('mcc_pool_alert', '1 for a node that is in no pool, or in more than one.', ['node']);
  return {
    observe(pool, status) {
      for (const [name, each] of Object.entries(counts)) each.set({ pool }, status[name as keyof typeof counts]);
    },
    homeless(nodes) {
      alert.reset();
      for (const { name } of nodes) alert.set({ node: name }, 1);
    },
    forget(pool) {
      for (const each of Object.values(counts)) each.remove({ pool });
    },
  };
}
