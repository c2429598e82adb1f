import { CodedError } from '@slipway/base/coded-error';

/** Every error code of the daemon with its meaning. docs/errors.md explains what to do about each. */
export const daemonErrors = {
  SLW_DAEMON_PATH: 'a path leads out of the machine’s root, or through something that is not a directory',
  SLW_DAEMON_LINK: 'a path goes through a symbolic link that a user of the machine controls',
  SLW_DAEMON_FILE_SIZE: 'a file on the machine is larger than the daemon’s read limit',
  SLW_DAEMON_CONFIG: 'a rendered config is missing, incomplete or modified',
  SLW_DAEMON_TARGET: 'the node is assigned a config that was not rendered for its pool',
  SLW_DAEMON_FIRST_BOOT: 'the first boot of the machine did not complete',
  SLW_DAEMON_UNIT: 'systemd refused a change to a unit, or the unit did not start',
  SLW_DAEMON_SYSTEMD: 'systemd does not respond',
  SLW_DAEMON_OS: 'the OS image, the kernel, its arguments or an extension could not be changed',
  SLW_DAEMON_ACCOUNT: 'a user or group in the config does not exist on the machine',
  SLW_DAEMON_HOST: 'a program that the daemon needs is missing, or its output could not be parsed',
  SLW_DAEMON_PREFLIGHT: 'something on the machine is in the way of an entry in the config',
  SLW_DAEMON_DISK: 'the disk could not be read or written: it is full, read-only or failing',
  SLW_DAEMON_STEP: 'a step of an update failed',
  SLW_DAEMON_VERIFY: 'after an update, the machine does not match the config',
  SLW_DAEMON_INTERRUPTED: 'an update was interrupted repeatedly and was rolled back',
  SLW_DAEMON_JOURNAL: 'the journal of an update in progress cannot be used',
  SLW_DAEMON_DRIFT: 'the machine does not match its config',
  SLW_DAEMON_NO_CONFIG: 'the machine’s current config is unknown',
  SLW_DAEMON_CLUSTER_OLDER: 'the cluster requests a config without knowing the newer one on the disk',
  SLW_DAEMON_SPACE: 'the images of an update do not fit on the disk',
  SLW_PINNING_SET: 'a PinnedImageSet of the node is missing or invalid',
  SLW_PINNING_SIZES: 'the registry did not report the size of an image',
  SLW_PINNING_WOULD_NOT_FIT: 'the images still to be pulled do not fit on the disk',
  SLW_PINNING_NO_SPACE: 'the free space for images ran out while they were being pulled',
  SLW_PINNING_PULL: 'the container runtime could not pull an image',
  SLW_PINNING_STALLED: 'the pull of an image was ended because it took too long',
  SLW_PINNING_RUNTIME: 'the container runtime does not respond',
  SLW_PINNING_NOT_PINNED: 'the container runtime has not pinned an image that its configuration lists',
} as const;

export type DaemonErrorCode = keyof typeof daemonErrors;

export interface DaemonErrorOptions extends ErrorOptions {
  /** Whether a later attempt without any change may succeed. Left out: the code decides. */
  readonly retry?: boolean;
}

export class DaemonError extends CodedError<DaemonErrorCode> {
  override readonly name = 'DaemonError';
  readonly retry: boolean | undefined;

  constructor(code: DaemonErrorCode, message: string, options: DaemonErrorOptions = {}) {
    super(code, message, options);
    this.retry = options.retry;
  }
}
