import { CodedError } from '@slipway/base/coded-error';

/** Every code of the daemon, with what it means. docs/errors.md says what to do about each. */
export const daemonErrors = {
  SLW_DAEMON_PATH: 'a path of the config leads out of the machine’s root, or through what is no directory',
  SLW_DAEMON_FILE_SIZE: 'a file of the machine is larger than what is read of it',
  SLW_DAEMON_CONFIG: 'a rendered config is missing, or is not what was rendered',
  SLW_DAEMON_FIRST_BOOT: 'the first boot of the machine could not be finished',
  SLW_DAEMON_UNIT: 'systemd refused what a unit needs, or the unit did not start',
  SLW_DAEMON_SYSTEMD: 'systemd does not answer',
  SLW_DAEMON_OS: 'the OS could not be brought to another image, kernel, argument or package',
  SLW_DAEMON_ACCOUNT: 'a user or group that the config names is not on the machine',
  SLW_DAEMON_HOST: 'the machine lacks a program that the daemon needs, or it answered what cannot be read',
  SLW_DAEMON_PREFLIGHT: 'what the machine has at a path is in the way of what the config wants there',
  SLW_DAEMON_DISK: 'the disk refused to be read or written: full, read-only or failing',
  SLW_DAEMON_STEP: 'a step of an update failed',
  SLW_DAEMON_VERIFY: 'after an update the machine is not what the config says',
  SLW_DAEMON_INTERRUPTED: 'an update was cut off again and again, and was taken back',
  SLW_DAEMON_JOURNAL: 'the record of an update that is under way cannot be used',
  SLW_DAEMON_DRIFT: 'the machine is not what its config says',
  SLW_DAEMON_NO_CONFIG: 'nothing says which config the machine has',
  SLW_DAEMON_CLUSTER_OLDER: 'the cluster asks for an older config than the disk has, without knowing of that one',
  SLW_DAEMON_SPACE: 'the images of an update would not fit on the disk',
  SLW_PINNING_SET: 'what a node is to pin is missing, or cannot be read',
  SLW_PINNING_SIZES: 'the registry does not say how large an image is',
  SLW_PINNING_WOULD_NOT_FIT: 'the images that are still missing would not fit on the disk',
  SLW_PINNING_NO_SPACE: 'the disk got full while images were pulled',
  SLW_PINNING_PULL: 'the container runtime could not pull an image',
  SLW_PINNING_RUNTIME: 'the container runtime does not answer',
  SLW_PINNING_NOT_PINNED: 'the container runtime does not keep what its configuration tells it to keep',
} as const;

export type DaemonErrorCode = keyof typeof daemonErrors;

export class DaemonError extends CodedError<DaemonErrorCode> {
  override readonly name = 'DaemonError';
}
