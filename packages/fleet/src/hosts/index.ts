export { afterCall, type CallOutcome } from './outcome.ts';
export type { DriverInfo, ReadBmc } from './bmc.ts';
export {
  encodeDriveMemory,
  encodeMemory,
  countFailures,
  holdValue,
  HOST_MEMORY_ANNOTATION,
  isOwn,
  isPlain,
  computeMedium,
  emptyHostMemory,
  OWN_REBOOT_KEY,
  REBOOT_ANNOTATION,
  rebootRequests,
} from './memory.ts';
export {
  type ObservedDataImage,
  type Drive,
  type DriveMemory,
  type HostFacts,
  type HostMemory,
  type ObservedHost,
  type HostStep,
  type Ironic,
  type IronicAuth,
  type IronicNode,
  type IronicOptions,
  type KnownNode,
  formatNodeName,
  type PowerTarget,
  type StepOptions,
  DEFAULT_STEP_OPTIONS,
  type DesiredNode,
} from './host-step.ts';
export {
  observeBmc,
  observeBmcAlongside,
  isOfEarlierHost,
  observeDataImage,
  HOST_FINALIZER,
  observeHost,
  IMAGE_FINALIZER,
  observeNode,
  ownedBy,
  PAUSED_ANNOTATION,
} from './observe.ts';
export {
  type DataImageFindings,
  dataImageStatus,
  isFreshlyAdopted,
  statusOutOfReach,
  statusWithoutHost,
} from './data-image-status.ts';
export { type HostFindings, hostStatus } from './host-status.ts';
export { mustClaim, nextHostStep, stepWithoutHost } from './next-host-step.ts';
