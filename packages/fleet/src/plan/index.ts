export {
  toExitCode,
  type FleetPlan,
  type FleetState,
  type Machines,
  type NodePlan,
  type PlannedChange,
  type PlannedObject,
  type PlannedUpdate,
  type PoolPlan,
  type ReadConfigs,
} from './fleet-plan.ts';
export { type Applied, type AppliedManifests, applyManifests, replaceManifests } from './apply-manifests.ts';
export { type EvictedPod, evictedPod, withEvictions } from './evictions.ts';
export { planFleet, type PlanRequest } from './plan-fleet.ts';
export { type NodeGroup, nodeGroups } from './plan-pool.ts';
