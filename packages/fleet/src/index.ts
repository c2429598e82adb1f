export {
  type FeatureGateName,
  featureGates,
  type FeatureGateSettings,
  type GateFinding,
  parseFeatureGates,
  type ResolvedGate,
  type ResolvedGates,
  resolveFeatureGates,
} from './feature-gates.ts';
export {
  type BuiltInMachineConfig,
  builtInMachineConfigs,
  type BuiltInOptions,
  builtInRoles,
} from './built-in/built-in.ts';
export { decodeProblems, encodeProblems, type ReportedProblem } from './render-problems.ts';
export {
  FleetError,
  fleetErrors,
  pinErrors,
  poolErrors,
  type RenderCode,
  renderErrors,
  rolloutErrors,
  streamErrors,
  updateErrors,
} from './errors.ts';
export { canonicalJson } from './render/canonical-json.ts';
export { RENDERED_VERSION, type RenderedIgnition } from './render/ignition.ts';
export { type ObjectReference, readMachineConfig, type RenderInput } from './render/input.ts';
export { type LabelSelector, matchesSelector } from './render/label-selector.ts';
export type { OSImages, OSStream, RenderImages } from './render/machine-settings.ts';
export type { RenderProblem } from './render/problem.ts';
export type { RenderProvenance, SettingOrigin } from './render/provenance.ts';
export { needsRemoteContent, type RemoteReference, remoteReferences } from './render/remote.ts';
export { type PreparedRender, prepareRender, type ReadInput } from './render/prepare-render.ts';
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
export { HIDDEN, isSecretFile, maskedDiff, maskField, type Masking } from './masking.ts';
export { explain, type Explained, type ExplainedField } from './explain.ts';
export { diffRendered } from './render/diff.ts';
export { splitArguments } from './update/kernel-arguments.ts';
export { planUpdate, type PlannedConfig, type UpdateRequest } from './update/plan-update.ts';
export type { NodeDisruptionPolicy } from './update/policy.ts';
export { rollbackOf } from './update/rollback.ts';
export { addTolerated, type ValidationOverrides } from './update/tolerated.ts';
export type * from './update/update-plan.ts';
export { type ChosenPool, isMember, poolOf } from './pool-of.ts';
export { readRenderedFrom, type RenderedFrom, type SourceChange, sourceChanges } from './render/rendered-from.ts';
export { chooseNodes } from './rollout/choose-nodes.ts';
export {
  type DecidedFleet,
  type DecidedPool,
  decideFleet,
  decidePool,
  type FleetObjects,
  type NodeOutside,
  type PoolInFleet,
  rolloutRequestOf,
  stoppedBy,
} from './rollout/decide-fleet.ts';
export type * from './rollout/decision.ts';
export type * from './rollout/facts.ts';
export { maxUnavailableOf, maxUnavailableProblem } from './rollout/max-unavailable.ts';
export { addToHistory, decodeHistory, decodeState, encodeHistory, encodeState } from './rollout/memory.ts';
export { nodeFactsOf } from './rollout/node-facts.ts';
export { osMajorOf } from './rollout/os-version.ts';
export {
  defaultRolloutPolicy,
  parseRolloutPolicy,
  type RolloutPolicy,
  type WaveSize,
  waveSizes,
} from './rollout/policy.ts';
export { isControlPlanePool, poolFactsOf, type ReadPool } from './rollout/pool-facts.ts';
export type { RolloutProblem } from './rollout/problem.ts';
export { isStuck, isUnavailable, standOf } from './rollout/standing.ts';
export { parseTargetReason, type TargetReason, targetReason } from './rollout/target-reason.ts';
export { answerRequest, type RequestAnswer, type RequestInput } from './rollout/answer-request.ts';
export { type ComingRollout, estimateSeconds } from './rollout/estimate.ts';
export {
  type PoolCondition,
  type PoolStatus,
  type PoolStatusInput,
  poolStatusOf,
  type PoolStreamInput,
} from './rollout/pool-status.ts';
export { findStream, isStreamName, lifecycleOf, listStreams, successorsOf } from './os-streams/available.ts';
export {
  type DefaultStream,
  defaultStreamOf,
  type DefaultStreamRequest,
  type Distribution,
  distributionOf,
  expectedDefault,
  familyOf,
} from './os-streams/default-stream.ts';
export { poolDeprecation, type PoolOnStream, type StreamCondition, upgradeableOf } from './os-streams/deprecation.ts';
export type * from './os-streams/facts.ts';
export { followsWorker } from './os-streams/follows-worker.ts';
export {
  decodeLifecycle,
  encodeLifecycle,
  lifecycleAnnotations,
  lifecycleOfTag,
  type ReadLifecycle,
} from './os-streams/lifecycle.ts';
export { streamOfPool, trackedBy } from './os-streams/pool-stream.ts';
export { needsImageLabels, runsOf, type RunsEvidence, streamClassLabel, streamOfLabels } from './os-streams/runs.ts';
export { streamsOf } from './os-streams/streams-of.ts';
export { trackedAnnotations, type TrackedAnnotations, trackedOf } from './os-streams/tracked.ts';
export {
  type AssignedSet,
  decodeAssignment,
  encodeAssignment,
  MOST_SETS,
  type PinAssignment,
} from './pinned-images/assignment.ts';
export { formatBytes } from './pinned-images/byte-text.ts';
export {
  type Amount,
  formatPinProgress,
  parsePinProgress,
  type PinProgress,
  type SetProgress,
} from './pinned-images/pin-progress.ts';
export { amountOf, bytesOf, type SizedImage, type SizedLayer, spaceFor } from './pinned-images/space.ts';
export { assignSets } from './pinned-images/assign.ts';
export { holds, pinConditions, type PinNode, type PinPool, pinPoolOf, pinReportOf } from './pinned-images/pin-facts.ts';
export {
  addedSetsOf,
  encodeAddedSets,
  nextPoolSets,
  setNamesOf,
  takesSet,
  tooManySets,
} from './pinned-images/pool-sets.ts';
export { poolPinsOf, type PoolPins } from './pinned-images/pool-status.ts';
export { decodeSummary, encodeSummary, fails, type PinSummary, summaryOf } from './pinned-images/pool-summary.ts';
export { isManaged, MANAGED_BY_SLIPWAY, managedByLabel } from './managed-by.ts';
export type { KubeObject, Stored } from './kube-object.ts';
export { untilDue } from './first-boot/until-due.ts';
export { missingPools } from './missing-pools.ts';
export { nextTokens } from './first-boot/next-tokens.ts';
export { type RenderedConfigFacts, retain } from './render/retention.ts';
export { type CodedProblem, ProblemList } from './problem-list.ts';
export { type NodePins, pinNodeOf, type PinPhase, progressOf } from './pinned-images/node-pins.ts';
export { diskBytesFor, type NodeFit, nodeFit } from './pinned-images/node-fit.ts';
export { runningIn } from './os-streams/running-os.ts';
export {
  clusterImages,
  decidedStream,
  imagesOnStream,
  namedImages,
  osImagesOfPool,
} from './os-streams/pool-os-images.ts';
