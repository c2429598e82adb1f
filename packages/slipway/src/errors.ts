/** Every code the command itself raises, with what it means. docs/errors.md says what to do about each. */
export const commandErrors = {
  SLW_CLI_USAGE: 'the command was called with something it does not understand',
  SLW_CLI_NOT_INSTALLED: 'the cluster lacks CRDs that the controllers need',
  SLW_CLI_CRD_FOREIGN: 'a CRD of ours is managed by somebody else in this cluster',
  SLW_CLI_CRD_NOT_READY: 'the API server did not take a CRD into service in time',
  SLW_IGNITION_INPUT: 'a file or a flag of an ignition command cannot be used',
  SLW_FETCH_ADDRESS: 'a name of a reference leads only to addresses that are not allowed',
} as const;

export class CommandError extends Error {
  readonly code: keyof typeof commandErrors;

  constructor(code: keyof typeof commandErrors, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandError';
    this.code = code;
  }
}
