import { KubeError } from './errors.ts';
import type { KubeErrorCode } from './errors.ts';

/** The `Status` object that the API server answers with when a request fails. */
export interface Status {
  reason?: string;
  message?: string;
  details?: {
    name?: string;
    causes?: { field?: string; message?: string; reason?: string }[];
    retryAfterSeconds?: number;
  };
}

export interface FailedAnswer {
  status: number;
  /** The body, decoded where it was a Status; undefined where it was anything else. */
  body: Status | undefined;
  retryAfter: string | undefined;
  /** What was asked, e.g. `get Node worker-1`. */
  what: string;
  /** Whether the request may have changed something. */
  write: boolean;
}

/** Which of our errors an answer of the API server is. A decision only: nothing is sent or waited for. */
export function errorOf(answer: FailedAnswer): KubeError {
  const code = codeOf(answer);
  const reason = answer.body?.reason;
  return new KubeError(code, `${answer.what}: ${explain(code, answer)}`, {
    status: answer.status,
    reason,
    retryAfterMs: retryAfterMs(answer),
  });
}

const byStatus: Readonly<Record<number, KubeErrorCode>> = {
  400: 'SLW_KUBE_INVALID',
  401: 'SLW_KUBE_UNAUTHORIZED',
  403: 'SLW_KUBE_FORBIDDEN',
  405: 'SLW_KUBE_INVALID',
  406: 'SLW_KUBE_BAD_ANSWER',
  409: 'SLW_KUBE_CONFLICT',
  410: 'SLW_KUBE_GONE',
  413: 'SLW_KUBE_INVALID',
  415: 'SLW_KUBE_INVALID',
  422: 'SLW_KUBE_INVALID',
  429: 'SLW_KUBE_THROTTLED',
};

function codeOf({ status, body = {}, write }: FailedAnswer): KubeErrorCode {
  const special = closerLook[status]?.(body);
  if (special !== undefined) return special;
  const known = byStatus[status];
  if (known !== undefined) return known;
  // The API redirects nowhere: this is something else that answers.
  if (status < 400) return 'SLW_KUBE_BAD_ANSWER';
  if (status < 500) return 'SLW_KUBE_INVALID';
  return write && !refusedUnread(status, body) ? 'SLW_KUBE_OUTCOME_UNKNOWN' : 'SLW_KUBE_SERVER';
}

/**
 * 500, 502 and 504 may come after the write has been stored. A 503 of the API server itself, known by its Status, says
 * that nothing was done; one of a proxy in front of it may mean that the answer got lost.
 */
const refusedUnread = (status: number, body: Status): boolean => status === 503 && body.reason !== undefined;

/** Where the status alone does not tell. */
const closerLook: Readonly<Record<number, (body: Status) => KubeErrorCode | undefined>> = {
  404: (body) => (body.details?.name === undefined ? 'SLW_KUBE_KIND_NOT_INSTALLED' : 'SLW_KUBE_NOT_FOUND'),
  409: (body) => (body.reason === 'AlreadyExists' ? 'SLW_KUBE_ALREADY_EXISTS' : undefined),
  // A patch that names another UID is answered as a change of an immutable field: it is the precondition that failed.
  422: (body) =>
    body.details?.causes?.some((cause) => cause.field === 'metadata.uid') ? 'SLW_KUBE_CONFLICT' : undefined,
  429: (body) => (hasCause(body, 'DisruptionBudget') ? 'SLW_KUBE_BLOCKED' : undefined),
  // After etcd was restored from a backup: the version asked for is one that the server has never had.
  504: (body) => (hasCause(body, 'ResourceVersionTooLarge') ? 'SLW_KUBE_GONE' : undefined),
};

const hasCause = (body: Status, reason: string): boolean =>
  body.details?.causes?.some((cause) => cause.reason === reason) === true;

const wayOut: Partial<Record<KubeErrorCode, string>> = {
  SLW_KUBE_UNAUTHORIZED:
    'the API server does not accept the credentials. Log in again, or give a kubeconfig with valid ones',
  SLW_KUBE_KIND_NOT_INSTALLED: 'the API server does not serve this kind. Install the CRDs first: slipway install',
};

function explain(code: KubeErrorCode, answer: FailedAnswer): string {
  const said = answer.body?.message ?? `HTTP ${answer.status}`;
  const way = wayOut[code];
  return way === undefined ? said : `${way} (the server said: ${said})`;
}

function retryAfterMs({ retryAfter, body }: FailedAnswer): number | undefined {
  // The header may also be a date; the API server never sends that.
  const seconds = [retryAfter, body?.details?.retryAfterSeconds].map(Number).find((value) => value >= 0);
  return seconds === undefined ? undefined : Math.min(seconds, 300) * 1000;
}
