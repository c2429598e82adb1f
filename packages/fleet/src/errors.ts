import { CodedError } from '@slipway/base/coded-error';

/** Every code of a render, with what it means. docs/errors.md says what to do about each. */
export const renderErrors = {
  SLW_RENDER_SELECTOR: 'the selector of a pool cannot be used',
  SLW_RENDER_NO_CONFIG: 'a pool selects no MachineConfig',
  SLW_RENDER_PARSE: 'the Ignition config of a MachineConfig cannot be read',
  SLW_RENDER_INVALID: 'the Ignition config of a MachineConfig breaks a rule of its spec version',
  SLW_RENDER_TRANSLATE: 'the Ignition config of a MachineConfig says something that spec 3.5.0 cannot say',
  SLW_RENDER_MODE: 'the mode of a file is above 0777',
  SLW_RENDER_KERNEL_TYPE: 'the kernel type is not known',
  SLW_RENDER_KERNEL_DEVEL: 'the extension kernel-devel is asked for beside a kernel it does not belong to',
  SLW_RENDER_REMOTE: 'a reference to another server is left, though a rendered config has none',
  SLW_RENDER_CONFLICT: 'MachineConfigs that are valid one by one contradict each other',
  SLW_RENDER_VERSION: 'a MachineConfig was made by another version of the controller',
  SLW_RENDER_TOO_LARGE: 'the rendered config does not fit into one object of the cluster',
  SLW_RENDER_OS_STREAM: 'a pool asks for an OS image stream, and one of its MachineConfigs for another OS image',
  SLW_RENDER_OS_IMAGE: 'a warning: a MachineConfig replaces an OS image of the cluster',
  SLW_RENDER_IGNITION: 'a warning: something in an Ignition config is ignored or does nothing',
} as const;

export type RenderCode = keyof typeof renderErrors;

/** Every code of a first boot, with what it means. */
export const firstBootErrors = {
  SLW_FIRST_BOOT_CONFIG: 'a rendered config cannot be given to a machine, because its Ignition config cannot be read',
  SLW_FIRST_BOOT_OPTIONS: 'what was set about how machines join cannot work',
} as const;

export class FirstBootError extends CodedError<keyof typeof firstBootErrors> {
  override readonly name = 'FirstBootError';
}

/** Codes of failures that end an operation. */
export const fleetErrors = {
  SLW_DISK_CONTENTS: 'the contents of a file are not in the config, or cannot be read',
  SLW_UPDATE_CONFIG: 'an update cannot be planned, because a rendered config cannot be read',
} as const;

export class FleetError extends CodedError<keyof typeof fleetErrors> {
  override readonly name = 'FleetError';
}

/** Codes of what stands in the way of an update. */
export const updateErrors = {
  SLW_UPDATE_IRRECONCILABLE: 'a config asks for what a running machine cannot become',
} as const;

/** Codes of why a node has no pool. */
export const poolErrors = {
  SLW_POOL_NONE: 'no pool selects a node',
  SLW_POOL_SEVERAL: 'more than one custom pool selects a node',
} as const;

/** Codes of rollouts: what of a pool cannot be used as it is, and why a rollout does not go on. */
export const rolloutErrors = {
  SLW_ROLLOUT_POLICY: 'an annotation of a pool about its rollouts cannot be read',
  SLW_ROLLOUT_MAX_UNAVAILABLE: 'maxUnavailable of a pool cannot be read',
  SLW_ROLLOUT_MEMORY: 'what a pool remembers of its rollouts is damaged',
  SLW_ROLLOUT_REQUEST: 'a request about a rollout is refused',
  SLW_ROLLOUT_HALTED: 'a machine failed, and no other is given the new config',
  SLW_ROLLOUT_OS_DOWNGRADE: 'the way back would lower the major version of the OS',
} as const;

/** Codes of OS image streams. */
export const streamErrors = {
  SLW_STREAM_UNKNOWN: 'a pool asks for a stream that is not there',
  SLW_STREAM_BACKWARD: 'a pool asks for an older stream than the one it is on',
  SLW_STREAM_FAMILY: 'a pool asks for a stream of another operating system',
  SLW_STREAM_NO_DEFAULT: 'the default stream of the platform is not among the streams',
  SLW_STREAM_LIFECYCLE: 'what a release says of the life of a stream cannot be read',
} as const;

/** Codes of pinned images, as far as pools decide them. Those of a machine are the daemon's. */
export const pinErrors = {
  SLW_PIN_SET_MISSING: 'a pool names a PinnedImageSet that is not there',
  SLW_PIN_TOO_MANY_SETS: 'a pool or a machine would have more PinnedImageSets than the API can hold',
  SLW_PIN_MAX_PULLING: 'how many machines of a pool may pull at once cannot be read',
} as const;
