import type { ControllerErrorCode } from '../../errors.ts';

export type IronicErrorCode = Extract<ControllerErrorCode, `SLW_IRONIC_${string}`>;

/** Ironic has said no, or was not asked: nothing was done, and the same call will not do better by itself. */
const refusals: ReadonlySet<IronicErrorCode> = new Set<IronicErrorCode>([
  'SLW_IRONIC_OPTIONS',
  'SLW_IRONIC_VERSION',
  'SLW_IRONIC_REFUSED',
  'SLW_IRONIC_NOT_FOUND',
  'SLW_IRONIC_UNAUTHORIZED',
]);

export interface IronicErrorDetails {
  /** What was asked for: `host: METHOD /path`. Never a body, which holds passwords. */
  readonly asked?: string | undefined;
  readonly status?: number | undefined;
  readonly cause?: unknown;
}

export class IronicError extends Error {
  override readonly name = 'IronicError';
  readonly code: IronicErrorCode;
  readonly status: number | undefined;

  constructor(code: IronicErrorCode, text: string, { asked, status, cause }: IronicErrorDetails = {}) {
    super(asked === undefined ? text : `Ironic at ${asked}: ${text}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
  }

  /** False: it may pass by itself, and unless the node was locked, what was asked for may have been done. */
  get isRefusal(): boolean {
    return refusals.has(this.code);
  }
}

export const isIronicError = (error: unknown, ...codes: IronicErrorCode[]): error is IronicError =>
  error instanceof IronicError && (codes.length === 0 || codes.includes(error.code));
