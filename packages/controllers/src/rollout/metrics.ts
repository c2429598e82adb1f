// The metrics of pools and their machines. The first five have the names that existing dashboards and alerts use.
import type { NodeFacts, PoolStatus } from '@slipway/fleet';
import type { Metrics } from '@slipway/kube';
import { Gauge } from 'prom-client';

export interface RolloutMetrics {
  observe(pool: string, status: PoolStatus, nodes: readonly MachineFacts[]): void;
  /** Machines in no pool, or in several. */
  homeless(nodes: readonly Pick<NodeFacts, 'name'>[]): void;
  forget(pool: string): void;
  reset(): void;
}

type MachineFacts = Pick<NodeFacts, 'hasDrifted' | 'current'>;

export function createRolloutMetrics({ registry }: Pick<Metrics, 'registry'>): RolloutMetrics {
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]): Gauge<L> =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const counts = {
    machineCount: gauge('mco_machine_count', 'Machines of a pool.', ['pool']),
    updatedMachineCount: gauge('mco_updated_machine_count', 'Machines that run their pool’s target config.', ['pool']),
    degradedMachineCount: gauge('mco_degraded_machine_count', 'Machines that could not apply their config.', ['pool']),
    unavailableMachineCount: gauge('mco_unavailable_machine_count', 'Unavailable machines.', ['pool']),
  };
  const alert = gauge('mcc_pool_alert', '1 for a node that is in no pool, or in more than one.', ['node']);
  const conditions = gauge('slipway_pool_condition', '1 for each condition of a pool that is True.', [
    'pool',
    'condition',
    'reason',
  ]);
  const problems = gauge(
    'slipway_pool_problem_machines',
    'Machines of a pool that no update reaches: drifted from their config, or their daemon has not reported a config.',
    ['pool', 'problem'],
  );
  const reported = new Map<string, readonly { condition: string; reason: string }[]>();

  function observeConditions(pool: string, next: PoolStatus['conditions']): void {
    for (const labels of reported.get(pool) ?? []) conditions.remove({ pool, ...labels });
    const held = next.filter(({ status }) => status === 'True');
    const all = held.map(({ type, reason }) => ({ condition: type, reason }));
    for (const labels of all) conditions.set({ pool, ...labels }, 1);
    reported.set(pool, all);
  }

  return {
    observe(pool, status, nodes) {
      for (const [name, each] of Object.entries(counts)) each.set({ pool }, status[name as keyof typeof counts]);
      observeConditions(pool, status.conditions);
      for (const [problem, has] of Object.entries(machineProblems))
        problems.set({ pool, problem }, nodes.filter(has).length);
    },
    homeless(nodes) {
      alert.reset();
      for (const { name } of nodes) alert.set({ node: name }, 1);
    },
    forget(pool) {
      for (const each of Object.values(counts)) each.remove({ pool });
      for (const problem of Object.keys(machineProblems)) problems.remove({ pool, problem });
      observeConditions(pool, []);
      reported.delete(pool);
    },
    reset() {
      for (const each of [...Object.values(counts), alert, conditions, problems]) each.reset();
      reported.clear();
    },
  };
}

const machineProblems: Readonly<Record<'drifted' | 'unreported', (node: MachineFacts) => boolean>> = {
  drifted: ({ hasDrifted }) => hasDrifted,
  unreported: ({ current }) => current === null,
};
