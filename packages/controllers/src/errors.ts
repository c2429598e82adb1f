/** Every code the controllers raise, with what it means. docs/errors.md says what to do about each. */
export const controllerErrors = {
  SLW_FETCH_ADDRESS: 'a name of a reference leads only to addresses that are not allowed',
  SLW_REMOTE_CONTENT_LOST: 'the stored remote content of a MachineConfig is gone and could not be recovered',
  SLW_FIRST_BOOT_OPTIONS: 'what was set about how machines join cannot work',
  SLW_STREAM_SOURCE_FAILED: 'a source of OS image streams cannot be read',
  SLW_STREAM_CONFLICT: 'two images claim the same place in an OS image stream',
  SLW_STREAM_PARTIAL: 'an OS image stream has only one of its two images',
  SLW_STREAM_UNLABELLED: 'OS images of a release do not say which stream they are of',
  SLW_STREAM_UNUSABLE: 'an OS image stream of a release cannot be used as it is',
  SLW_STREAM_DEFAULT_GONE: 'the default stream that somebody has set is not there any more',
} as const;

export type ControllerErrorCode = keyof typeof controllerErrors;
