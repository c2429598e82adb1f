/** Every code of the simulated fleet, with what it means. docs/errors.md says what to do about each. */
export const simulatorErrors = {
  SLW_CLI_BIRTH: 'a simulated machine of slipway start could not be born',
} as const;

export class SimulatorError extends Error {
  override readonly name = 'SimulatorError';
  readonly code: keyof typeof simulatorErrors;

  constructor(code: keyof typeof simulatorErrors, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
