export { defaultPoolsController } from './default-pools/default-pools.ts';
export { watchFeatureGates } from './feature-gates/feature-gates.ts';
export type { WatchedFeatureGates } from './feature-gates/feature-gates.ts';
export { createFetcher, type NodeFetcherOptions } from './remote-content/fetch/fetch.ts';
export { type SnapshotProblem, remoteContentLabel } from './remote-content/index-secret.ts';
export { remoteContentController, type RemoteContentOptions } from './remote-content/remote-content.ts';
export {
  type Loaded,
  loadSnapshot,
  type Snapshot,
  type SnapshotState,
  snapshotStateOf,
} from './remote-content/snapshot.ts';
export { contentLimits } from './remote-content/resolve-content.ts';
export {
  type Authority,
  authorityData,
  authorityFields,
  bundleOf,
  makeAuthority,
  readAuthority,
  validityOf,
  withoutExpired,
} from './certificates/authority.ts';
export { issueServing, type ServingCertificate, servingData } from './certificates/serving-certificate.ts';
export { builtInController } from './built-in/built-in.ts';
export { rolloutController, type RolloutOptions } from './rollout/rollout.ts';
export { renderController } from './render/render.ts';
export { renderedConfigsController } from './render/rendered-configs.ts';
export { certificatesController } from './certificates/certificates.ts';
export { firstBootDefaults, type FirstBootSettings } from './provisioning/options.ts';
export { provisioningControllers } from './provisioning/provisioning.ts';
export { firstBootOptions } from './provisioning/options.ts';
export { nextTokens } from './provisioning/next-tokens.ts';
export { serverAddress } from './provisioning/server-address.ts';
export { renderedCopiesController } from './render/rendered-copies.ts';
export { machineConfigNodesController } from './machine-config-nodes/machine-config-nodes.ts';
export { drainController, type DrainOptions } from './drain/drain.ts';
export { osStreamsControllers } from './os-streams/controllers.ts';
export { discoverStreams } from './os-streams/discover-streams.ts';
export type { Discovery, Found, SourceReading, StreamNote } from './os-streams/discovery.ts';
export {
  imageReferencesPath,
  MOST_BYTES as MOST_REFERENCES_BYTES,
  readImageReferences,
} from './os-streams/image-references.ts';
export { nextStreamObject } from './os-streams/next-stream-object.ts';
export type { OsStreamsOptions } from './os-streams/options.ts';
export { readSources } from './os-streams/read-sources.ts';
export { type MakeRegistry, registryWith } from './os-streams/registry-of.ts';
export { configMapPair, pairOf, type StreamSources } from './os-streams/stream-sources.ts';
export { decideResource, type Decision, type ToImport } from './boot-images/decide.ts';
export { enrolmentNotes } from './boot-images/enrolment.ts';
export type {
  ClusterFacts,
  GoldenReading,
  MachineManager,
  MachineReading,
  ResourceFacts,
} from './boot-images/facts.ts';
export { isJsonObject } from './boot-images/json-path.ts';
export { decodeKeptImages, findKeptImage, type KeptImage, withKeptImage } from './boot-images/kept-images.ts';
export { providerSpecPointer } from './boot-images/machine-api-spec.ts';
export { annotationSteps, type PatchStep, patchSteps } from './boot-images/patch-steps.ts';
export type { Artifact, JsonObject, MachineResource, ResourceVerdict } from './boot-images/verdict.ts';
export { platforms } from './boot-images/verdict.ts';
export { bootImagesName } from './boot-images/boot-image-config.ts';
export { clusterFactsOf, machineContextOf } from './boot-images/cluster-facts.ts';
export { keyOf as keyOfMachines, resourceFacts, type StubReading } from './boot-images/facts.ts';
export { readGolden } from './boot-images/golden.ts';
export { type MachineContext, readMachineSet } from './boot-images/machine-api-facts.ts';
export { stampKeys } from './boot-images/stamp.ts';
export { readStubFacts, stubSecretOf, userDataOf } from './boot-images/user-data.ts';
export { createBootImageMetrics } from './boot-images/boot-image-metrics.ts';
export { canaryLabel } from './boot-images/boot-image-reads.ts';
export { decodeFailures, type Failures } from './boot-images/failures.ts';
export { bootImagesControllers } from './boot-images/controllers.ts';
export {
  type ClusterApiContext,
  type ClusterApiMachines,
  readTemplate,
  referenceOf,
  regionOf,
  templateQuestion,
  userDataOf as clusterApiUserDataOf,
} from './boot-images/cluster-api-facts.ts';
export { infrastructureGroup, templateKind } from './boot-images/cluster-api/template-kinds.ts';
export { cloneTemplate } from './boot-images/cluster-api/clone-template.ts';
export { replacementNote } from './boot-images/cluster-api/replacement-note.ts';
export {
  findTemplate,
  type InfrastructureTemplate,
  machineTemplate,
  makeClone,
  type StoredTemplate,
  templatesOf,
} from './boot-images/infrastructure-templates.ts';
export { pinnedImagesControllers, type PinnedImagesOptions } from './pinned-images/controllers.ts';
export { dataImagesController } from './data-images/hosts.ts';
export { createIronic } from './data-images/ironic/client.ts';
export { parseAuth } from './data-images/ironic/endpoint.ts';
export { isIronicError } from './data-images/ironic/ironic-error.ts';
export type { Ironic, IronicOptions } from './data-images/ironic/ironic.ts';
export type { DataImagesOptions } from './data-images/options.ts';
