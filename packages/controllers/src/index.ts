export { builtInController, defaultPoolsController } from './built-in-controller.ts';
export { type WatchedFeatureGates, watchFeatureGates } from './feature-gates.ts';
export { createFetcher, type NodeFetcherOptions } from './remote-content/fetch.ts';
export { remoteContentController, type RemoteContentOptions } from './remote-content/controller.ts';
export {
  type Authority,
  authorityData,
  authorityFields,
  bundleOf,
  makeAuthority,
  readAuthority,
  validityOf,
  withoutExpired,
} from './provisioning/authority.ts';
export { issueServing, type ServingCertificate, servingData } from './provisioning/serving-certificate.ts';
export { rolloutController, type RolloutOptions } from './rollout/controller.ts';
export { renderController } from './render/controller.ts';
export { renderedConfigsController } from './render/rendered-configs-controller.ts';
export { certificatesController } from './provisioning/certificates-controller.ts';
export { firstBootDefaults, firstBootOptions, type FirstBootSettings } from './provisioning/options.ts';
export { provisioningControllers } from './provisioning/stubs-controller.ts';
export { serverAddress } from './provisioning/server-address.ts';
export { renderedCopiesController } from './render/rendered-copies-controller.ts';
export { machineConfigNodesController } from './machine-config-nodes-controller.ts';
export { drainController, type DrainOptions } from './drain/controller.ts';
export { osStreamsControllers } from './os-streams/streams-controller.ts';
export type { OsStreamsOptions } from './os-streams/options.ts';
export { type MakeRegistry, registryWith } from './os-streams/registry.ts';
export { bootImagesControllers } from './boot-images/controllers.ts';
export { pinnedImagesControllers, type PinnedImagesOptions } from './pinned-images/assignments-controller.ts';
export { dataImagesController, type DataImagesOptions } from './data-images/controller.ts';
export { createIronic } from './data-images/ironic/client.ts';
export { parseAuth } from './data-images/ironic/transport.ts';
export { isIronicError } from './data-images/ironic/ironic-error.ts';
