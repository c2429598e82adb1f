/** Every code the controllers raise, with what it means. docs/errors.md says what to do about each. */
export const controllerErrors = {
  SLW_FETCH_ADDRESS: 'a name of a reference leads only to addresses that are not allowed',
  SLW_REMOTE_CONTENT_LOST: 'the stored remote content of a MachineConfig is gone and could not be recovered',
  SLW_FIRST_BOOT_OPTIONS: 'what was set about how machines join cannot work',
} as const;

export type ControllerErrorCode = keyof typeof controllerErrors;
