export {
  cloneTemplate,
  type ClusterApiContext,
  type ClusterApiMachines,
  clusterApiUserDataOf,
  collectableTemplates,
  consequenceOf,
  GRACE_MS,
  INFRASTRUCTURE_GROUP,
  type InfrastructureTemplate,
  CloneTakenError,
  machineTemplate,
  makeClone,
  type NamedTemplate,
  readTemplate,
  referenceOf,
  regionOf,
  replacementNote,
  templateQuestion,
  templatesOf,
  type TemplateWriter,
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
  clusterFactsOf,
  type ClusterObjects,
  installVersionOf,
  keyOfMachines,
  machineContextOf,
  type MachineManager,
  type MachineReading,
  optInOf,
  PROVIDER_SPEC_POINTER,
  readMachineSet,
  type ResourceFacts,
  resourceFacts,
  type StubReading,
  userDataSecretOf,
  withUserDataSecret,
} from './facts.ts';
export { annotationSteps, isJsonObject, type PatchStep, patchSteps, type Json, type JsonObject } from './json.ts';
export { type Change, decideResource, type Decision, failedDecision, memoryCodec, type ToImport } from './decide.ts';
export {
  type BootImageConfig,
  createGoldenReader,
  type Golden,
  KNOWN_IMAGES_ANNOTATION,
  nextKept,
  parseBootImageConfig,
  readGolden,
  type GoldenReading,
} from './boot-image-config.ts';
export { enrolmentNotes, enrolmentOf, managersInForce } from './preconditions.ts';
export { isCollectableCopy, managedStubName, stubNames, type StubSecret, stubSecretOf } from './stub/stub-secret.ts';
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
  isEnrolled,
  nextFailures,
  untilNextFailure,
} from './conditions.ts';
export { type Skew, skewOf } from './skew.ts';
export { readStubFacts, type UserData, userDataOf, type DesiredCopy } from './stub/next-stub-step.ts';
export {
  decodeKeptImages,
  encodeKeptImages,
  findKeptImage,
  type HistoryDetail,
  historyName,
  historySpec,
  type KeptImage,
  nextDetails,
  nextKeptImages,
  withKeptImage,
} from './history.ts';
export {
  holdSteps,
  releaseSteps,
  resourceWords,
  type Restoration,
  type RestorationFacts,
  restorationTo,
} from './restoration.ts';
