export { featureGates, parseFeatureGates, resolveFeatureGates } from './feature-gates.ts';
export type { FeatureGateName, FeatureGateSettings, ResolvedGate, ResolvedGates } from './feature-gates.ts';
export {
  type BuiltInMachineConfig,
  builtInMachineConfigs,
  type BuiltInOptions,
  builtInRoles,
} from './built-in/built-in.ts';
export { decodeProblems, encodeProblems, type ReportedProblem } from './render-problems.ts';
export { type RenderCode, renderErrors } from './errors.ts';
export { canonicalJson } from './render/canonical-json.ts';
export { RENDERED_VERSION, type RenderedIgnition } from './render/ignition.ts';
export { type ObjectReference, type ReadResult, readMachineConfig, type RenderInput } from './render/input.ts';
export { type LabelSelector, matchesSelector } from './render/label-selector.ts';
export type { OSImages } from './render/machine-settings.ts';
export type { RenderProblem } from './render/problem.ts';
export type { RenderProvenance, SettingOrigin } from './render/provenance.ts';
export { needsRemoteContent, type RemoteReference, remoteReferences } from './render/remote.ts';
export {
  type RenderedConfig,
  type RenderedSpec,
  renderPool,
  type RenderRequest,
  type RenderResult,
} from './render/render-pool.ts';
export { isRenderedAs, renderedName } from './render/rendered-name.ts';
export { selectMachineConfigs, selectorProblems } from './render/select.ts';
export { type ProvisioningToken, readTokens } from './first-boot/provisioning-tokens.ts';
export { serverSecrets } from './first-boot/secret-names.ts';
export { stubOf, type StubRequest } from './first-boot/stub.ts';
export { firstBootConfig, type JoiningNode } from './first-boot/first-boot-config.ts';
export { servedConfig } from './first-boot/served-config.ts';
export { diskOf } from './disk/disk-of.ts';
export * from './disk/disk-plan.ts';
export { FleetError, fleetErrors, poolErrors, updateErrors } from './errors.ts';
export { HIDDEN, isSecretFile, maskedDiff, maskField, type Masking } from './masking.ts';
export { explain, type Explained, type ExplainedField } from './explain.ts';
export { diffRendered } from './render/diff.ts';
export { splitArguments } from './update/kernel-arguments.ts';
export { planUpdate, type PlannedConfig, type UpdateRequest } from './update/plan-update.ts';
export type { NodeDisruptionPolicy } from './update/policy.ts';
export { rollbackOf } from './update/rollback.ts';
export { addTolerated, type ValidationOverrides } from './update/tolerated.ts';
export type * from './update/update-plan.ts';
export { type ChosenPool, poolOf } from './pool-of.ts';
