export {
  exitCodeOf,
  type FleetPlan,
  type NodePlan,
  type PlannedChange,
  type PlannedObject,
  type PlannedUpdate,
  type PoolPlan,
} from './fleet-plan.ts';
export { type Applied, type AppliedManifests, applyManifests, replaceManifests } from './apply-manifests.ts';
export { type EvictedPod, evictedPod, withEvictions } from './evictions.ts';
export type { FleetState, Machines, ReadConfigs } from './fleet-state.ts';
export { planFleet } from './plan-fleet.ts';
export { type NodeGroup, nodeGroups } from './node-groups.ts';
