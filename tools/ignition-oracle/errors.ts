export type OracleErrorCode = 'SLW_ORACLE_BUILD_FAILED' | 'SLW_ORACLE_ENDED';

/** An expected failure of the environment: no Go, no module proxy, a process that was killed. */
export class OracleError extends Error {
  override readonly name = 'OracleError';
  readonly code: OracleErrorCode;

  constructor(code: OracleErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
