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
export { computeOperatorStatus, joinUpgradeable } from './operator-status.ts';
export {
  type BuiltInMachineConfig,
  builtInMachineConfigs,
  type BuiltInOptions,
  isAsShipped,
  isBuiltInNeeded,
  missingBuiltIn,
} from './first-boot/built-in.ts';
export {
  type CodedProblem,
  decodeProblems,
  encodeProblems,
  formatProblem,
  formatProblems,
  ProblemList,
} from './problems.ts';
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
export { canonicalJson, isRenderedAs, isRenderedFor, renderedName } from './render/rendered-name.ts';
export { RENDERED_VERSION, type RenderedIgnition } from './render/ignition.ts';
export { type RenderProblem } from './render/problem.ts';
export { needsRemoteContent, type RemoteReference, remoteReferences } from './render/remote.ts';
export { type ObjectReference, readMachineConfig, type RenderInput } from './render/input.ts';
export { type LabelSelector, matchesSelector, selectMachineConfigs, selectsAll } from './render/select.ts';
export type { OSImages, OSStream, RenderImages } from './render/machine-settings.ts';
export { diffRendered, type RenderProvenance, type SettingOrigin } from './render/diff.ts';
export { type PreparedRender, prepareRender, type ReadInput } from './render/prepare-render.ts';
export {
  type RenderedConfig,
  type RenderedSpec,
  renderPool,
  type RenderRequest,
  type RenderResult,
} from './render/render-pool.ts';
export {
  isOpenShift,
  nextTokens,
  type ProvisioningToken,
  readTokens,
  serverSecrets,
  untilDue,
} from './first-boot/provisioning-tokens.ts';
export {
  firstBootConfig,
  type JoiningNode,
  servedConfig,
  buildStub,
  type StubRequest,
} from './first-boot/first-boot-config.ts';
export { buildDiskPlan } from './disk/build-disk-plan.ts';
export * from './disk/disk-plan.ts';
export { DAEMON_SERVICE, DETAILS_COMMAND, DETAILS_IDENTIFIER, formatDetails, readDetails } from './node-details.ts';
export { isSecretFile, maskContents, maskedDiff, maskField, type Masking } from './masking.ts';
export { explain, type Explained, type ExplainedField } from './explain.ts';
export { needsReboot } from './update/actions.ts';
export { computeOSChange, type OSChange } from './update/os-change.ts';
export {
  findFipsLimits,
  findOSLimits,
  findUpdateLimits,
  formatOSLimits,
  type OSAbility,
  type OSFacts,
  type OSLimit,
} from './update/os-limits.ts';
export { splitArguments } from './update/settings.ts';
export { type PlannedConfig, planUpdate, computeRollback, type UpdateRequest } from './update/plan-update.ts';
export { computeClusterPolicies, type NodeDisruptionPolicy } from './update/policy.ts';
export { addTolerated, type ValidationOverrides } from './update/irreconcilable.ts';
export type * from './update/update-plan.ts';
export { type ChosenPool, isControlPlanePool, isMember, missingPools, selectPool } from './pool-membership.ts';
export {
  readRenderedFrom,
  type RenderedConfigFacts,
  type RenderedFrom,
  retain,
  type SourceChange,
  sourceChanges,
} from './render/rendered-from.ts';
export { decideRollout } from './rollout/decide-rollout.ts';
export {
  type DecidedFleet,
  type DecidedPool,
  decideFleet,
  decidePool,
  type FleetObjects,
  type NodeOutside,
  type PoolInFleet,
  buildRolloutRequest,
  stoppedBy,
} from './rollout/decide-fleet.ts';
export type * from './rollout/decide-rollout.ts';
export type * from './rollout/facts.ts';
export {
  defaultRolloutPolicy,
  computeMaxUnavailable,
  maxUnavailableProblem,
  parseRolloutPolicy,
  type RolloutPolicy,
  type WaveSize,
  waveSizes,
} from './rollout/policy.ts';
export { addToHistory, decodeHistory, decodeState, encodeHistory, encodeState } from './rollout/memory.ts';
export {
  readNodeFacts,
  parseTargetReason,
  readPoolFacts,
  type ReadPool,
  type TargetReason,
  targetReason,
} from './rollout/read-facts.ts';
export type { RolloutProblem } from './rollout/facts.ts';
export { isStuck, isUnavailable, computeNodeState } from './rollout/node-state.ts';
export { answerRequest, type RequestAnswer, type RequestInput } from './rollout/answer-request.ts';
export { type ComingRollout, estimateSeconds } from './rollout/waves.ts';
export {
  fieldsWhileInUse,
  goesWhenUnused,
  type PoolCondition,
  type PoolStatus,
  type PoolStatusInput,
  computePoolStatus,
  type PoolStreamInput,
} from './rollout/pool-status.ts';
export {
  decodeLifecycle,
  encodeLifecycle,
  lifecycleAnnotations,
  lifecycleOfTag,
  type ReadLifecycle,
  toStreams,
} from './os-streams/lifecycle.ts';
export { findStream, isStreamName, findLifecycle, listStreams, listSuccessors } from './os-streams/available.ts';
export {
  type DefaultStream,
  selectDefaultStream,
  type DefaultStreamRequest,
  type Distribution,
  detectDistribution,
  expectedDefault,
  getFamily,
  followsWorker,
} from './os-streams/default-stream.ts';
export {
  poolDeprecation,
  type PoolOnStream,
  type StreamCondition,
  computeUpgradeable,
  stateOfStream,
  type StreamState,
} from './os-streams/deprecation.ts';
export type * from './os-streams/available.ts';
export {
  streamOfPool,
  missingImage,
  type MissingImage,
  trackedAnnotations,
  type TrackedAnnotations,
  trackedBy,
  readTrackedStream,
} from './os-streams/pool-stream.ts';
export {
  needsImageLabels,
  runningIn,
  type RunsEvidence,
  detectRunningOs,
  STREAM_CLASS_LABEL,
  streamOfLabels,
} from './os-streams/runs.ts';
export { assignSets } from './pinned-images/assign-sets.ts';
export {
  readAddedSets,
  type AssignedSet,
  decodeAssignment,
  encodeAddedSets,
  encodeAssignment,
  MAX_SETS,
  nextPoolSets,
  type PinAssignment,
  listSetNames,
  takesSet,
  tooManySets,
} from './pinned-images/assignment.ts';
export {
  type Amount,
  formatPinProgress,
  NO_PIN_PROGRESS,
  parsePinProgress,
  type PinProgress,
  type SetProgress,
} from './pinned-images/pin-progress.ts';
export {
  computePullAmount,
  sumImageBytes,
  diskBytesFor,
  type NodeFit,
  nodeFit,
  type SizedImage,
  type SizedLayer,
  spaceFor,
  reservedBytes,
} from './pinned-images/space.ts';
export {
  holds,
  pinConditions,
  type PinNode,
  type PinPool,
  buildPinPool,
  readPinReport,
} from './pinned-images/pin-facts.ts';
export {
  decodeSummary,
  encodeSummary,
  fails,
  type PinSummary,
  readPinSummary,
  type PoolPins,
  buildPoolPins,
  summarizePins,
} from './pinned-images/pool-summary.ts';
export { isManaged, type KubeObject, MANAGED_BY_SLIPWAY, MANAGED_BY_LABEL, type Stored } from './kube-object.ts';
export { type NodePins, readPinNode, type PinPhase, readPinProgress } from './pinned-images/node-pins.ts';
export {
  clusterImages,
  decidedStream,
  imagesOnStream,
  namedImages,
  osImagesOfPool,
} from './os-streams/pool-os-images.ts';
export {
  MAX_CHUNKS,
  type PackedSnapshot,
  packSnapshot,
  snapshotDigest,
  unpackSnapshot,
} from './render/pack-snapshot.ts';
export { parseOsMajor } from './os-streams/os-major.ts';
export {
  type FirstBootOptions,
  firstBootOptions,
  type FirstBootSettings,
  serverAddress,
} from './first-boot/options.ts';
