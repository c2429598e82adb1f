export { afterCall, type CallOutcome } from './after-call.ts';
export type { DriverInfo, ReadBmc } from './bmc/read-bmc.ts';
export { nothingAsked } from './host-memory.ts';
export {
  type DataImageSeen,
  type Drive,
  type DriveMemory,
  type HostFacts,
  type HostMemory,
  type HostSeen,
  type HostStep,
  type IronicNode,
  type PowerTarget,
  type StepOptions,
  usualOptions,
} from './host-step.ts';
export { dataImageSeen, imageFinalizer } from './data-image-seen.ts';
export { bmcSeen, bmcSeenBeside, hostFinalizer, hostSeen, nodeSeen, ownedBy, pausedAnnotation } from './host-seen.ts';
export {
  type Ironic,
  type IronicAuth,
  type IronicOptions,
  type KnownNode,
  nodeNameOf,
  type WantedNode,
} from './ironic.ts';
export { encodeMemory, hostMemoryAnnotation } from './memories.ts';
export { holdValue, isOwn, isPlain, ownRebootKey, rebootAnnotation, rebootRequests } from './reboot-requests.ts';
export { type DataImageFindings, dataImageStatus, isFreshlyAdopted, statusWithoutHost } from './data-image-status.ts';
export { failuresOf, mediumOf } from './drive-memory.ts';
export { createDroppedFields, type DroppedFields } from './dropped-fields.ts';
export { type HostFindings, hostStatus } from './host-status.ts';
export { nextHostStep, stepWithoutHost } from './next-host-step.ts';
