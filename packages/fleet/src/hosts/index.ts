export { afterCall, type CallOutcome } from './outcome.ts';
export type { DriverInfo, ReadBmc } from './bmc.ts';
export {
  encodeMemory,
  failuresOf,
  holdValue,
  hostMemoryAnnotation,
  isOwn,
  isPlain,
  mediumOf,
  nothingAsked,
  ownRebootKey,
  rebootAnnotation,
  rebootRequests,
} from './memory.ts';
export {
  type DataImageSeen,
  type Drive,
  type DriveMemory,
  type HostFacts,
  type HostMemory,
  type HostSeen,
  type HostStep,
  type Ironic,
  type IronicAuth,
  type IronicNode,
  type IronicOptions,
  type KnownNode,
  nodeNameOf,
  type PowerTarget,
  type StepOptions,
  usualOptions,
  type WantedNode,
} from './host-step.ts';
export {
  bmcSeen,
  bmcSeenBeside,
  dataImageSeen,
  hostFinalizer,
  hostSeen,
  imageFinalizer,
  nodeSeen,
  ownedBy,
  pausedAnnotation,
} from './observe.ts';
export { type DataImageFindings, dataImageStatus, isFreshlyAdopted, statusWithoutHost } from './data-image-status.ts';
export { type HostFindings, hostStatus } from './host-status.ts';
export { nextHostStep, stepWithoutHost } from './next-host-step.ts';
