import { CodedError } from '@slipway/base/coded-error';

/** Every error code of the simulated fleet with its meaning. docs/errors.md explains what to do about each. */
export const simulatorErrors = {
  SLW_CLI_BIRTH: 'a simulated machine of slipway start could not be created',
} as const;

export class SimulatorError extends CodedError<keyof typeof simulatorErrors> {
  override readonly name = 'SimulatorError';
}
