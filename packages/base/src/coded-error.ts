/**
 * An error with a code from a catalogue. Packages extend it with their codes and a name:
 * `class ServerError extends CodedError<ServerErrorCode> { override readonly name = 'ServerError'; }`
 */
export class CodedError<Code extends string> extends Error {
  override readonly name: string = 'CodedError';
  readonly code: Code;

  constructor(code: Code, message: string, { cause }: ErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** Whether an error has this class and, if codes are passed, one of them. */
export const errorGuard =
  <E extends CodedError<string>>(Class: abstract new (...parameters: never[]) => E) =>
  (error: unknown, ...codes: readonly E['code'][]): error is E =>
    error instanceof Class && (codes.length === 0 || codes.includes(error.code));
