export { collectableTemplates, GRACE_MS, type NamedTemplate } from './cluster-api/collectable-templates.ts';
export { additions, installer3, managedStub, oldToken } from './stub/testing/stubs.ts';
export {
  type BootImageCode,
  type Json,
  type JsonObject,
  type MachineKind,
  type MachineResource,
  type Platform,
  platforms,
  type ResourceVerdict,
} from './verdict.ts';
export { clusterFactsOf, type ClusterObjects, installVersionOf, machineContextOf } from './cluster-facts.ts';
export { annotationSteps, type PatchStep, patchSteps } from './patch-steps.ts';
export { type Change, decideResource, type Decision, failedDecision, type ToImport } from './decide.ts';
export {
  type ClusterFacts,
  type GoldenReading,
  keyOfMachines,
  type MachineManager,
  type MachineReading,
  optInOf,
  type ResourceFacts,
  resourceFacts,
  type StubReading,
} from './facts.ts';
export { createGoldenReader, type Golden, knownImagesAnnotation, readGolden } from './golden.ts';
export {
  infrastructureGroup,
  isTemplateKind,
  templateKind,
  type TemplateKindName,
  templateKindNames,
} from './cluster-api/template-kinds.ts';
export {
  type ClusterApiContext,
  type ClusterApiMachines,
  consequenceOf,
  readTemplate,
  referenceOf,
  regionOf,
  templateQuestion,
  clusterApiUserDataOf,
} from './cluster-api-facts.ts';
export { cloneTemplate, isSameClone, type MachineTemplate } from './cluster-api/clone-template.ts';
export { enrolmentNotes, enrolmentOf, managersInForce } from './enrolment.ts';
export { readMachineSet, userDataSecretOf } from './machine-api-facts.ts';
export { isCollectableCopy } from './stub/collectable-copy.ts';
export { type BootImageConfig, bootImagesName, parseBootImageConfig } from './boot-image-config.ts';
export { nextKept } from './known-images.ts';
export {
  type PoolOsProgress,
  type PoolProgress,
  type ReleaseFacts,
  type ReleaseSource,
  waitsFor,
} from './release-progress.ts';
export { nextStamp, readStamp, stampKeys, type StampWrite } from './stamp.ts';
export { isJsonObject } from './json-path.ts';
export { providerSpecPointer, withUserDataSecret } from './machine-api-spec.ts';
export { type BootImageCondition, bootImageConditions, isEnrolled } from './conditions.ts';
export { decodeFailures, encodeFailures, type Failures, nextFailures, untilNextFailure } from './failures.ts';
export { type Skew, skewOf } from './skew.ts';
export { nextStubStep, type StubFacts, stubReading, stubRole, type WantedCopy } from './stub/next-stub-step.ts';
export { managedStubName, stubNames, type StubSecret } from './stub/stub-secret.ts';
export { type HistoryDetail, historyName, historySpec, nextDetails } from './history.ts';
export {
  decodeKeptImages,
  encodeKeptImages,
  findKeptImage,
  type KeptImage,
  nextKeptImages,
  withKeptImage,
} from './kept-images.ts';
export { decodeMemory } from './memory.ts';
export { replacementNote } from './cluster-api/replacement-note.ts';
