// The same as readFleet, kept up to date.
import { machineConfigNodes, machineConfigPools, machineConfigurations, nodes } from '@slipway/api';
import { byName, type FleetNow, machineConfigurationName, slimNode } from '@slipway/fleet/reports';
import { createInformer, type Transport } from '@slipway/kube';
import type { Followed } from './follow.ts';

export interface WatchOptions {
  readonly signal: AbortSignal;
  readonly onChange: () => void;
}

export function watchFleet(transport: Transport, { signal, onChange }: WatchOptions): Followed<FleetNow> {
  // A person waits in front of it.
  const shared = { longestBackoffMs: 5000, onProblem: onChange } as const;
  const pools = createInformer(transport, { resource: machineConfigPools, ...shared });
  const machines = createInformer(transport, { resource: nodes, expect: 'many', project: slimNode, ...shared });
  const records = createInformer(transport, { resource: machineConfigNodes, expect: 'many', ...shared });
  const settings = createInformer(transport, { resource: machineConfigurations, ...shared });
  const all = [pools, machines, records, settings];
  for (const informer of all) {
    informer.onChange(onChange);
    informer.start(signal);
  }
  return {
    synced: Promise.all(all.map(({ synced }) => synced)),
    now: () => ({
      pools: [...pools.store.values()].sort(byName),
      nodes: [...machines.store.values()].sort(byName),
      machineConfigNodes: new Map([...records.store.values()].map((record) => [record.metadata.name, record])),
      machineConfiguration: settings.store.get(machineConfigurationName),
    }),
    problem() {
      const found = all.map((informer) => informer.problem).find((each) => each instanceof Error);
      return found?.message ?? null;
    },
  };
}
