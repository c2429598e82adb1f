export { type AccessOptions, type ClusterAccess, findAccess } from './client/access.ts';
export {
  type ApplyOptions,
  type Client,
  createClient,
  type DeleteOptions,
  type ListOptions,
  type Patch,
  type Precondition,
  type WriteAttempt,
  type WriteGuard,
  type WriteOptions,
} from './client/client.ts';
export { isKubeError, KubeError, type KubeErrorCode, kubeErrors } from './client/errors.ts';
export { loadKubeconfig } from './client/kubeconfig.ts';
export {
  formatApiVersion,
  type Key,
  buildApiPath,
  keyOf,
  type KubeObject,
  type Name,
  parseKey,
  type ObjectMeta,
  type OwnerReference,
  type Resource,
  resourceId,
  type Stored,
} from './client/resource.ts';
export { isServed } from './client/served-version.ts';
export { createTransport, impersonating, type Transport, type TransportOptions } from './client/transport.ts';
export {
  type AnyVersion,
  anyVersion,
  createWriter,
  retryOnConflict,
  type Target,
  type Writer,
} from './client/writer.ts';
export { createInformer, type Informer, type InformerOptions, isSameButVersion } from './watch/informer.ts';
export { createReconnectSpread } from './watch/reconnect.ts';
export { type Change, dropManagedFields, type IndexFunction, type Projection, type Store } from './watch/store.ts';
export { type Condition, setCondition } from './runtime/conditions.ts';
export { type Controller, type ControllerParts, createController } from './runtime/controller.ts';
export {
  again,
  type Context,
  type ControllerDef,
  done,
  type Gate,
  type Gates,
  type Next,
  type Owned,
  type StoreReader,
  type Source,
} from './runtime/controller-def.ts';
export { createRecorder, type EventInput, type Recorder } from './runtime/events.ts';
export { createElection, type Election, type ElectionOptions, fence, type Leadership } from './runtime/leader.ts';
export { createLog, type Log, type LogLevel, logLevels, silentLog } from './runtime/log.ts';
export { createManager, type Manager, type ManagerOptions } from './runtime/manager.ts';
export { createMetrics, type Metrics } from './runtime/metrics.ts';
export { type Health, serveProbes } from './runtime/probes.ts';
