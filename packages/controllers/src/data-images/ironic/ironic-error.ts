import { CodedError, errorGuard } from '@slipway/base/coded-error';
import { isRecord, parseJson } from '@slipway/base/json';
import { printableLine } from '@slipway/base/text';
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

export class IronicError extends CodedError<IronicErrorCode> {
  override readonly name = 'IronicError';
  readonly status: number | undefined;

  constructor(code: IronicErrorCode, text: string, { asked, status, cause }: IronicErrorDetails = {}) {
    super(code, asked === undefined ? text : `Ironic at ${asked}: ${text}`, { cause });
    this.status = status;
  }

  /** False: it may pass by itself, and unless the node was locked, what was asked for may have been done. */
  get isRefusal(): boolean {
    return refusals.has(this.code);
  }
}

export const isIronicError = errorGuard(IronicError);

const MAX_FAULT_LENGTH = 600;

/** Why Ironic says no, in its own words: JSON within a string of JSON. Undefined: these are not words of an Ironic. */
export function readFault(text: string): string | undefined {
  const outer = parse(text);
  const message = isRecord(outer) ? outer['error_message'] : undefined;
  const inner = typeof message === 'string' ? parse(message) : message;
  if (!isRecord(inner)) return undefined;
  // Its web framework speaks otherwise than Ironic itself.
  const words = inner['faultstring'] ?? inner['description'];
  return typeof words === 'string' ? words : undefined;
}

/** The error that a status means which is not a success. */
export function toIronicError(status: number, words: string | undefined, asked: string): IronicError {
  const code = toErrorCode(status, words);
  const found =
    words === undefined ? `status ${status}` : `status ${status}: ${printableLine(words, MAX_FAULT_LENGTH)}`;
  return new IronicError(code, `expected a yes, found ${found}. ${remediationByCode[code] ?? ''}`.trim(), {
    asked,
    status,
  });
}

function toErrorCode(status: number, words: string | undefined): IronicErrorCode {
  if (status === 401 || status === 403) return 'SLW_IRONIC_UNAUTHORIZED';
  if (status === 408 || status === 429 || status >= 500) return 'SLW_IRONIC_SERVER';
  // Anything else counts only out of Ironic's own mouth: that a proxy knows no such path does not mean that a node is gone.
  if (status < 400 || words === undefined) return 'SLW_IRONIC_ANSWER';
  return byStatus[status] ?? 'SLW_IRONIC_REFUSED';
}

const byStatus: Readonly<Record<number, IronicErrorCode>> = {
  404: 'SLW_IRONIC_NOT_FOUND',
  406: 'SLW_IRONIC_VERSION',
  409: 'SLW_IRONIC_CONFLICT',
};

const remediationByCode: Partial<Record<IronicErrorCode, string>> = {
  SLW_IRONIC_UNAUTHORIZED: 'Give credentials that Ironic accepts',
  SLW_IRONIC_SERVER: "Check Ironic's log, and whether the BMC of the host answers",
  SLW_IRONIC_ANSWER: 'Check that this is the address of an Ironic',
  SLW_IRONIC_NOT_FOUND: 'It may have just been deleted',
  SLW_IRONIC_CONFLICT: 'It is tried again later',
};

function parse(text: string): unknown {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : undefined;
}
