/** An input that cannot be used at all; the message is one line for the user. */
export class InputError extends Error {
  readonly code = 'SLW_IGNITION_INPUT';
}
