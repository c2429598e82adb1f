export { featureGates, parseFeatureGates, resolveFeatureGates } from './feature-gates.ts';
export type { FeatureGateName, FeatureGateSettings, ResolvedGate, ResolvedGates } from './feature-gates.ts';
