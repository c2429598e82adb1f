import { CodedError, errorGuard } from '@slipway/base/coded-error';
import { isRecord, parseJson } from '@slipway/base/json';
import { printableLine } from '@slipway/base/text';
import type { ControllerErrorCode } from '../../errors.ts';

export type IronicErrorCode = Extract<ControllerErrorCode, `SLW_IRONIC_${string}`>;

/** Ironic refused, or was not called: nothing was done, and repeating the call does not help. */
const refusals: ReadonlySet<IronicErrorCode> = new Set<IronicErrorCode>([
  'SLW_IRONIC_OPTIONS',
  'SLW_IRONIC_VERSION',
  'SLW_IRONIC_REFUSED',
  'SLW_IRONIC_NOT_FOUND',
  'SLW_IRONIC_UNAUTHORIZED',
]);

export interface IronicErrorDetails {
  /** The request, as `host: METHOD /path`. Never a body, because bodies contain passwords. */
  readonly asked?: string | undefined;
  readonly status?: number | undefined;
  readonly cause?: unknown;
}

export class IronicError extends CodedError<IronicErrorCode> {
  override readonly name = 'IronicError';
  readonly status: number | undefined;

  constructor(code: IronicErrorCode, text: string, { asked, status, cause }: IronicErrorDetails = {}) {
    super(code, asked === undefined ? text : `Ironic at ${asked}: ${text}`, { cause });
    this.status = status;
  }

  /** False: a retry may succeed, and unless the node was locked, the call may have taken effect. */
  get isRefusal(): boolean {
    return refusals.has(this.code);
  }
}

export const isIronicError = errorGuard(IronicError);

const MAX_FAULT_LENGTH = 600;

/** Ironic's reason, which is JSON in a JSON string. Undefined if the response is not from Ironic. */
export function readFault(text: string): string | undefined {
  const outer = parse(text);
  const message = isRecord(outer) ? outer['error_message'] : undefined;
  const inner = typeof message === 'string' ? parse(message) : message;
  if (!isRecord(inner)) return undefined;
  // Ironic's web framework uses another field than Ironic.
  const words = inner['faultstring'] ?? inner['description'];
  return typeof words === 'string' ? words : undefined;
}

/** The error for a status other than success. */
export function toIronicError(status: number, words: string | undefined, asked: string): IronicError {
  const code = toErrorCode(status, words);
  const found =
    words === undefined ? `status ${status}` : `status ${status}: ${printableLine(words, MAX_FAULT_LENGTH)}`;
  return new IronicError(code, `expected success, found ${found}. ${remediationByCode[code] ?? ''}`.trim(), {
    asked,
    status,
  });
}

function toErrorCode(status: number, words: string | undefined): IronicErrorCode {
  if (status === 401 || status === 403) return 'SLW_IRONIC_UNAUTHORIZED';
  if (status === 408 || status === 429 || status >= 500) return 'SLW_IRONIC_SERVER';
  // Other codes count only in a response of Ironic: a 404 of a proxy does not mean that the node is gone.
  if (status < 400 || words === undefined) return 'SLW_IRONIC_ANSWER';
  return byStatus[status] ?? 'SLW_IRONIC_REFUSED';
}

const byStatus: Readonly<Record<number, IronicErrorCode>> = {
  404: 'SLW_IRONIC_NOT_FOUND',
  406: 'SLW_IRONIC_VERSION',
  409: 'SLW_IRONIC_CONFLICT',
};

const remediationByCode: Partial<Record<IronicErrorCode, string>> = {
  SLW_IRONIC_UNAUTHORIZED: 'Pass credentials that Ironic accepts',
  SLW_IRONIC_SERVER: "Check Ironic's log, and whether the BMC of the host responds",
  SLW_IRONIC_ANSWER: "Check that this is Ironic's address",
  SLW_IRONIC_NOT_FOUND: 'The node may have just been deleted',
  SLW_IRONIC_CONFLICT: 'Slipway retries later',
};

function parse(text: string): unknown {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : undefined;
}
