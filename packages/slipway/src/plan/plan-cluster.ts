// What a change would lead to in a cluster. Nothing here writes.
import { type Applied, type FleetPlan, type FleetState, planFleet, withEvictions } from '@slipway/fleet/plan';
import type { Client } from '@slipway/kube';
import type { Progress } from '../cli/io.ts';
import type { RenderOptions } from '../cli/options.ts';
import { machineConfigReader } from '../render/remote-content.ts';
import { readCluster, readPods } from './read-cluster.ts';
import { readConfigs, snapshotReader } from './read-configs.ts';

export interface Planned {
  readonly plan: FleetPlan;
  /** What was assumed or left out, a line each. */
  readonly notes: readonly string[];
}

export interface ClusterPlanOptions extends RenderOptions {
  showSecrets?: boolean;
}

/** `change` makes what there would be out of what there is; it may refuse by throwing. */
export async function planCluster(
  client: Client,
  options: ClusterPlanOptions,
  progress: Progress,
  change: (before: FleetState) => Applied,
): Promise<Planned> {
  const { state: before, machines, notes } = await readCluster(client, options, progress);
  const applied = change(before);
  const reader = snapshotReader(client, options.namespace, machineConfigReader(options));
  const read = await readConfigs([before, applied.state], reader.read, progress);
  const plan = await planFleet({
    now: Date.now(),
    before,
    after: applied.state,
    objects: applied.objects,
    machines,
    read,
    showSecrets: options.showSecrets ?? false,
  });
  const drained = drainedIn(plan);
  if (drained.size === 0) return { plan, notes: [...notes, ...reader.notes] };
  const found = await readPods(client, drained, progress);
  return {
    plan: withEvictions(plan, found.pods, found.budgets),
    notes: [...notes, ...reader.notes, ...found.notes],
  };
}

const drainedIn = ({ pools }: FleetPlan): ReadonlySet<string> =>
  new Set(pools.flatMap(({ nodes }) => nodes).flatMap(({ name, drain }) => (drain === null ? [] : [name])));
