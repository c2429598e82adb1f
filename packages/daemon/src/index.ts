export { createUpdater } from './apply/updater.ts';
export { writeCurrentConfig } from './current-config.ts';
export { type Daemon, type DaemonOptions, startDaemon } from './daemon.ts';
export { CORE } from './desired-machine.ts';
export { createDirectoryWatcher, type DirectoryWatcher } from './drift/directory-watcher.ts';
export { healPath } from './drift/heal-path.ts';
export { healSshKeys } from './drift/heal-ssh-keys.ts';
export { verifyMachine } from './drift/verify-machine.ts';
export { DaemonError, daemonErrors } from './errors.ts';
export { type FirstBoot, finishFirstBoot } from './first-boot/first-boot.ts';
export { createDisk } from './host/disk.ts';
export type { FileSystem } from './host/file-system.ts';
export type { Host } from './host/host.ts';
export { createRealHost } from './host/real-host.ts';
export {
  type JoinedDaemon,
  type MachineDaemon,
  type MachineDaemonOptions,
  type NodeAccess,
  startMachineDaemon,
} from './machine-daemon.ts';
export { ENCAPSULATED } from './node-paths.ts';
export { daemonSources, seenBy } from './node-sources.ts';
export type { PinMetrics } from './pinning/pin-metrics.ts';
export { pinningSources, type PinSeen, pinsSeenBy } from './pinning/pinner.ts';
export type { DaemonMetrics } from './report/metrics.ts';
export type { Seen } from './seen.ts';
export type { StoredConfig } from './stored-config.ts';
