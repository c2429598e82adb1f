export { createClient } from './client.ts';
export type {
  ApplyOptions,
  Client,
  DeleteOptions,
  ListOptions,
  Patch,
  Precondition,
  WriteAttempt,
  WriteGuard,
  WriteOptions,
} from './client.ts';
export { type Clock, systemClock } from './clock.ts';
export { setCondition } from './conditions.ts';
export type { Condition } from './conditions.ts';
export { again, done } from './controller.ts';
export type { Context, ControllerDef, Next, Owned, Read, Source } from './controller.ts';
export { isKubeError, KubeError, kubeErrors } from './errors.ts';
export type { KubeErrorCode } from './errors.ts';
export { createRecorder } from './events.ts';
export type { Happening, Recorder } from './events.ts';
export { impersonating } from './impersonation.ts';
export { createInformer, isSameButVersion } from './informer.ts';
export type { Informer, InformerOptions } from './informer.ts';
export { findAccess, loadKubeconfig } from './kubeconfig.ts';
export type { AccessOptions, ClusterAccess } from './kubeconfig.ts';
export { createElection, fence } from './leader.ts';
export type { Election, ElectionOptions, Leadership } from './leader.ts';
export { createLog, logLevels, silentLog } from './log.ts';
export type { Log, LogLevel } from './log.ts';
export { createManager } from './manager.ts';
export type { Gates, Manager, ManagerOptions } from './manager.ts';
export { createMetrics } from './metrics.ts';
export type { Metrics } from './metrics.ts';
export { systemCode } from './network-errors.ts';
export { serveProbes } from './probes.ts';
export type { Health } from './probes.ts';
export { dropManagedFields } from './projection.ts';
export type { Projection } from './projection.ts';
export { apiVersionOf, keyOf, nameOf, resourceId } from './resource.ts';
export type { Key, KubeObject, Name, ObjectMeta, OwnerReference, Resource, Stored } from './resource.ts';
export type { Change, IndexFunction, Store } from './store.ts';
export { createTransport } from './transport.ts';
export type { Transport, TransportOptions } from './transport.ts';
