export {
  cloneTemplate,
  type ClusterApiContext,
  type ClusterApiMachines,
  readClusterApiUserData,
  collectableTemplates,
  describeReplacement,
  GRACE_MS,
  INFRASTRUCTURE_GROUP,
  type InfrastructureTemplate,
  CloneTakenError,
  machineTemplate,
  makeClone,
  type NamedTemplate,
  readTemplate,
  readTemplateReference,
  readRegion,
  replacementNote,
  templateQuestion,
  toTemplateResource,
  type TemplateWriter,
  withoutTools,
} from './cluster-api.ts';
export { platforms, isTemplateKind, templateKind, type TemplateKindName, templateKinds } from './platforms/index.ts';
export {
  type BootImageCode,
  type MachineKind,
  type MachineResource,
  type Platform,
  type ResourceVerdict,
} from './verdict.ts';
export {
  type ClusterFacts,
  readClusterFacts,
  type ClusterObjects,
  readInstallVersion,
  keyOfMachines,
  readMachineContext,
  type MachineManager,
  type MachineReading,
  readOptIn,
  PROVIDER_SPEC_POINTER,
  readMachineSet,
  readMachineSpec,
  type ResourceFacts,
  resourceFacts,
  type StubReading,
  readUserDataSecret,
  withUserDataSecret,
} from './facts.ts';
export { annotationSteps, isJsonObject, type PatchStep, patchSteps, type Json, type JsonObject } from './json.ts';
export {
  type Change,
  decideResource,
  type Decision,
  failedDecision,
  memoryCodec,
  type ToImport,
  withNewestMemory,
} from './decide.ts';
export {
  type BootImageConfig,
  continueAnnotations,
  createGoldenReader,
  type Golden,
  KNOWN_IMAGES_ANNOTATION,
  nextKept,
  parseBootImageConfig,
  readGolden,
  readLastingAnnotations,
  type GoldenReading,
} from './boot-image-config.ts';
export { listSelectionNotes, resolveSelection, managersInForce } from './preconditions.ts';
export { isCollectableCopy, managedStubName, stubNames, type StubSecret, toStubSecret } from './stub/stub-secret.ts';
export {
  nextStamp,
  type PoolOsProgress,
  type PoolProgress,
  readStamp,
  type ReleaseFacts,
  type ReleaseSource,
  stampKeys,
  type StampWrite,
  waitsFor,
} from './release-stamp.ts';
export {
  type BootImageCondition,
  bootImageConditions,
  decodeFailures,
  encodeFailures,
  type Failures,
  isSelected,
  nextFailures,
  untilNextFailure,
} from './conditions.ts';
export { type Skew, computeSkew } from './skew.ts';
export { readStubFacts, type UserData, decideUserData, type DesiredCopy } from './stub/next-stub-step.ts';
export {
  decodeKeptImages,
  encodeKeptImages,
  findKeptImage,
  findRecordableVersion,
  type HistoryDetail,
  historyName,
  historySpec,
  keptAfterChange,
  type KeptImage,
  keptWhenChecked,
  nextDetails,
  shownVersion,
  toKeptImage,
} from './history.ts';
export {
  holdSteps,
  releaseSteps,
  resourceWords,
  type Restoration,
  type RestorationFacts,
  restorationTo,
} from './restoration.ts';
