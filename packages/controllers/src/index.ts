export { defaultPoolsController } from './default-pools/default-pools.ts';
export { watchFeatureGates } from './feature-gates/feature-gates.ts';
export type { WatchedFeatureGates } from './feature-gates/feature-gates.ts';
