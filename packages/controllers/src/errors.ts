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
  SLW_BOOT_IMAGES_MISSING: 'the ConfigMap with the boot images of the release is not there',
  SLW_BOOT_IMAGES_INVALID: 'the ConfigMap with the boot images of the release cannot be read',
  SLW_BOOT_IMAGES_VERSION: 'the ConfigMap with the boot images is not yet stamped by this version',
  SLW_BOOT_IMAGES_STREAM: 'there are no boot images of the OS stream that machines are on',
  SLW_BOOT_IMAGES_ARCH: 'there are no boot images of the architecture of machines, or it cannot be told',
  SLW_BOOT_IMAGES_REGION: 'there is no boot image in the region of machines',
  SLW_BOOT_IMAGES_SPEC: 'the spec of machines is not one that is known, or lacks what is needed',
  SLW_BOOT_IMAGES_PLATFORM: 'the boot images of a platform cannot be managed',
  SLW_BOOT_IMAGES_STUB: 'the user data that machines boot with cannot be used',
  SLW_BOOT_IMAGES_WRITE: 'a boot image could not be written',
  SLW_BOOT_IMAGES_HOT_LOOP: 'somebody keeps changing a boot image back',
  SLW_BOOT_IMAGES_CANARY: 'a machine that should try a new boot image did not become ready',
  SLW_BOOT_IMAGES_TEMPLATE: 'the infrastructure template of machines cannot be read or cloned',
} as const;

export type ControllerErrorCode = keyof typeof controllerErrors;
