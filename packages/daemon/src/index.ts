export { createUpdater } from './apply/updater.ts';
export { type StoredConfig, writeCurrentConfig } from './stored-config.ts';
export {
  type Daemon,
  type DaemonOptions,
  type JoinedDaemon,
  type MachineDaemon,
  type MachineDaemonOptions,
  type NodeAccess,
  startDaemon,
  startMachineDaemon,
} from './daemon.ts';
export { CORE } from './desired-machine.ts';
export { createDirectoryWatcher, type DirectoryWatcher } from './drift/watches.ts';
export { healPath, healSshKeys } from './drift/heal.ts';
export { verifyMachine } from './drift/verify-machine.ts';
export { DaemonError, daemonErrors } from './errors.ts';
export { type FirstBoot, finishFirstBoot } from './first-boot.ts';
export { createDisk } from './host/disk.ts';
export type { FileSystem } from './host/file-system.ts';
export type { Host } from './host/host.ts';
export { createRealHost } from './host/real-host.ts';
export { ENCAPSULATED } from './state-file.ts';
export { daemonSources, type ClusterView, readClusterView } from './node/cluster-view.ts';
export type { PinMetrics } from './pinning/pin-metrics.ts';
export { pinningSources, type PinClusterView, readPinClusterView } from './pinning/pinner.ts';
export type { DaemonMetrics } from './report/metrics.ts';
