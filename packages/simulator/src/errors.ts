import { CodedError } from '@slipway/base/coded-error';

/** Every code of the simulated fleet, with what it means. docs/errors.md says what to do about each. */
export const simulatorErrors = {
  SLW_CLI_BIRTH: 'a simulated machine of slipway start could not be born',
} as const;

export class SimulatorError extends CodedError<keyof typeof simulatorErrors> {
  override readonly name = 'SimulatorError';
}
