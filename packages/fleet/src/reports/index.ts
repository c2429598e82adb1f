export {
  type BootImageEntry,
  bootImagesReport,
  explainCanaries,
  type BootImagesReport,
  buildBootImageEntry,
} from './bootimages-report.ts';
export { byName, type FleetSnapshot, slimNode } from './fleet-snapshot.ts';
export {
  driveEntry,
  type DriveEntry,
  driveReport,
  type DriveReport,
  type DriveState,
  hostEntry,
  type HostEntry,
  isInDrive,
} from './drive-report.ts';
export {
  type Changes,
  type ConfigEntry,
  type HistoryInput,
  type HistoryReport,
  historyReport,
  newestFirst,
  type RecordedConfig,
  toRecordedConfig,
  type RolloutEntry,
} from './history-report.ts';
export { type PinReport, pinReport, type PinSnapshot, type PoolPins, type SetPins } from './pin-report.ts';
export {
  type NodeReport,
  readNodeStep,
  noStep,
  type PoolReport,
  type StatusReport,
  statusReport,
} from './status-report.ts';
export { type PoolEntry, type StreamEntry, streamsReport, type StreamsReport } from './streams-report.ts';
export { listRemediations } from './remediation.ts';
export {
  type BootImageHistoryEntry,
  bootImageHistoryReport,
  type BootImageHistoryReport,
  readKeptImages,
  resourceOfHistory,
} from './boot-image-history.ts';
export { type WhyInPool, type WhyReport, whyReport } from './why-report.ts';
