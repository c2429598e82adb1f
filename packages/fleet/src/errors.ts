import { CodedError } from '@slipway/base/coded-error';

/** Every code of a render and its meaning. docs/errors.md explains what to do about each. */
export const renderErrors = {
  SLW_RENDER_SELECTOR: 'the selector of a pool cannot be used',
  SLW_RENDER_NO_CONFIG: 'a pool selects no MachineConfig',
  SLW_RENDER_UNSELECTED: 'a warning: no pool selects a MachineConfig, so no machine gets it',
  SLW_RENDER_PARSE: 'the Ignition config of a MachineConfig cannot be read',
  SLW_RENDER_UNKNOWN_KEY: 'a key that Ignition does not know leaves an entry of a MachineConfig empty',
  SLW_RENDER_INVALID: 'the Ignition config of a MachineConfig breaks a rule of its spec version',
  SLW_RENDER_TRANSLATE: 'the Ignition config of a MachineConfig uses something that spec 3.5.0 cannot express',
  SLW_RENDER_CONTENTS: 'no machine can take contents of a MachineConfig: they do not match their compression or hash',
  SLW_RENDER_MODE: 'the mode of a file is above 0777',
  SLW_RENDER_RESERVED: 'a MachineConfig sets a path that Slipway or Ignition writes',
  SLW_RENDER_KERNEL_TYPE: 'the kernel type is not known',
  SLW_RENDER_EXTENSION: 'an extension is not known',
  SLW_RENDER_KERNEL_DEVEL: 'the extension kernel-devel is requested with a kernel that it does not belong to',
  SLW_RENDER_REMOTE: 'a reference to remote content is left, which a rendered config must not have',
  SLW_RENDER_CONFLICT: 'MachineConfigs that are valid individually contradict each other',
  SLW_RENDER_VERSION: 'a MachineConfig was created by another version of the controller',
  SLW_RENDER_TOO_LARGE: 'the rendered config does not fit into one API object',
  SLW_RENDER_OS_STREAM: 'a pool requests an OS image stream, and one of its MachineConfigs requests another OS image',
  SLW_RENDER_OS_IMAGE: 'a warning: a MachineConfig replaces an OS image of the cluster',
  SLW_RENDER_DOUBTFUL: 'a warning: a MachineConfig can be rendered, and a value in it is probably a mistake',
  SLW_RENDER_IGNITION: 'a warning: something in an Ignition config is ignored or has no effect',
} as const;

export type RenderCode = keyof typeof renderErrors;

/** Every code of a first boot and its meaning. */
export const firstBootErrors = {
  SLW_FIRST_BOOT_CONFIG: 'a rendered config cannot be served to a machine, because its Ignition config cannot be read',
  SLW_FIRST_BOOT_OPTIONS: 'the settings for how machines join cannot work',
} as const;

export class FirstBootError extends CodedError<keyof typeof firstBootErrors> {
  override readonly name = 'FirstBootError';
}

/** Codes of failures that abort an operation. */
export const fleetErrors = {
  SLW_DISK_CONTENTS: 'the contents of a file are not in the config, or cannot be read',
  SLW_UPDATE_CONFIG: 'an update cannot be planned, because a rendered config cannot be read',
} as const;

export class FleetError extends CodedError<keyof typeof fleetErrors> {
  override readonly name = 'FleetError';
}

/** Codes of obstacles to an update. */
export const updateErrors = {
  SLW_UPDATE_IRRECONCILABLE: 'a config requires a change that a running machine cannot make',
  SLW_UPDATE_OS: 'the OS of a machine cannot have a setting of a config',
} as const;

/** Codes of nodes without a pool. */
export const poolErrors = {
  SLW_POOL_NONE: 'no pool selects a node',
  SLW_POOL_SEVERAL: 'more than one custom pool selects a node',
} as const;

/** Codes of rollouts: invalid settings of a pool, and why a rollout does not continue. */
export const rolloutErrors = {
  SLW_ROLLOUT_POLICY: 'an annotation with the rollout policy of a pool is invalid',
  SLW_ROLLOUT_MAX_UNAVAILABLE: 'maxUnavailable of a pool is invalid',
  SLW_ROLLOUT_MEMORY: 'the stored rollout state or history of a pool is damaged',
  SLW_ROLLOUT_TARGET: 'the target of a pool was not rendered for that pool',
  SLW_ROLLOUT_REQUEST: 'a rollout request was refused',
  SLW_ROLLOUT_HALTED: 'a machine failed, and no other gets the new config',
  SLW_ROLLOUT_OS_DOWNGRADE: 'a rollback would lower the major version of the OS',
} as const;

/** Codes of OS image streams. */
export const streamErrors = {
  SLW_STREAM_UNKNOWN: 'a pool requests a stream that does not exist',
  SLW_STREAM_BACKWARD: 'a pool requests an older stream than the one it is on',
  SLW_STREAM_FAMILY: 'a pool requests a stream of another operating system',
  SLW_STREAM_NO_DEFAULT: 'the default stream of the platform is not among the streams',
  SLW_STREAM_NO_IMAGE: 'a pool has no OS image yet, so nothing is rendered for it',
  SLW_STREAM_MARK: 'a mark of a user on a stream cannot be used',
  SLW_STREAM_LIFECYCLE: 'the lifecycle of a stream in a release cannot be read',
} as const;

/** Codes of pinned images at the level of pools. The daemon has codes for a machine. */
export const pinErrors = {
  SLW_PIN_SET_MISSING: 'a pool names a PinnedImageSet that does not exist',
  SLW_PIN_TOO_MANY_SETS: 'a pool or a machine would have more PinnedImageSets than the API allows',
  SLW_PIN_MAX_PULLING: 'the limit of machines that may pull concurrently is invalid',
} as const;
