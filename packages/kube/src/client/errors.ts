import { CodedError, errorGuard } from '@slipway/base/coded-error';
import { classifyFailure, type Failure } from '@slipway/base/http';

/** Every code this package raises, with what it means. docs/errors.md says what to do about each. */
export const kubeErrors = {
  SLW_KUBE_CONFIG_MISSING: 'no kubeconfig was given or found, and this is not a pod',
  SLW_KUBE_CONFIG_INVALID: 'the kubeconfig cannot be used as it is',
  SLW_KUBE_CREDENTIALS: 'the credential plugin or token file gave nothing usable',
  SLW_KUBE_UNREACHABLE: 'no connection to the API server',
  SLW_KUBE_TLS: 'the API server’s certificate is not trusted',
  SLW_KUBE_UNAUTHORIZED: 'the API server does not accept the credentials',
  SLW_KUBE_FORBIDDEN: 'the identity may not do this',
  SLW_KUBE_NOT_FOUND: 'the object does not exist',
  SLW_KUBE_KIND_NOT_INSTALLED: 'the API server does not serve this kind',
  SLW_KUBE_ALREADY_EXISTS: 'an object of that name exists already',
  SLW_KUBE_CONFLICT: 'somebody else changed the object first',
  SLW_KUBE_GONE: 'the server no longer has the history that was asked for',
  SLW_KUBE_INVALID: 'the API server refused the object',
  SLW_KUBE_BLOCKED: 'a PodDisruptionBudget refuses the eviction now',
  SLW_KUBE_THROTTLED: 'the API server is overloaded and said to come back later',
  SLW_KUBE_SERVER: 'the API server failed to answer',
  SLW_KUBE_TIMEOUT: 'the API server did not answer in time',
  SLW_KUBE_OUTCOME_UNKNOWN: 'a write was sent and no answer came: it may have happened',
  SLW_KUBE_BAD_ANSWER: 'the answer is not what the API promises',
  SLW_KUBE_NOT_LEADER: 'this process is not, or no longer, the leader',
  SLW_KUBE_NO_PRECONDITION: 'a write without resourceVersion or UID was tried where fencing asks for one',
  SLW_KUBE_NOT_OWNED: 'a controller tried to write what it does not declare as its own',
} as const;

export type KubeErrorCode = keyof typeof kubeErrors;

export interface KubeErrorDetails {
  status?: number | undefined;
  /** The server's `reason`, e.g. `AlreadyExists`. */
  reason?: string | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

export class KubeError extends CodedError<KubeErrorCode> {
  override readonly name = 'KubeError';
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: KubeErrorCode, message: string, { status, reason, retryAfterMs, cause }: KubeErrorDetails = {}) {
    super(code, message, { cause });
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

export const isKubeError = errorGuard(KubeError);

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

export interface FailedResponse {
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
export function toKubeError(answer: FailedResponse): KubeError {
  const code = toErrorCode(answer);
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

function toErrorCode({ status, body = {}, write }: FailedResponse): KubeErrorCode {
  const special = codeByBody[status]?.(body);
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
const codeByBody: Readonly<Record<number, (body: Status) => KubeErrorCode | undefined>> = {
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

const remediations: Partial<Record<KubeErrorCode, string>> = {
  SLW_KUBE_UNAUTHORIZED:
    'the API server does not accept the credentials. Log in again, or give a kubeconfig with valid ones',
  SLW_KUBE_KIND_NOT_INSTALLED: 'the API server does not serve this kind. Install the CRDs first: slipway install',
};

function explain(code: KubeErrorCode, answer: FailedResponse): string {
  const said = answer.body?.message ?? `HTTP ${answer.status}`;
  const way = remediations[code];
  return way === undefined ? said : `${way} (the server said: ${said})`;
}

function retryAfterMs({ retryAfter, body }: FailedResponse): number | undefined {
  // The header may also be a date; the API server never sends that.
  const seconds = [retryAfter, body?.details?.retryAfterSeconds].map(Number).find((value) => value >= 0);
  return seconds === undefined ? undefined : Math.min(seconds, 300) * 1000;
}

export interface LostRequest {
  what: string;
  server: string;
  write: boolean;
  /** Whether any of it may have left: the connection stood and the request was being written. */
  sent: boolean;
}

/** What a request that got no answer at all means. */
export function lostRequestError(error: unknown, request: LostRequest): KubeError {
  const { what, server, write, sent } = request;
  const { kind, code } = classifyFailure(error);
  const why = code || String(error);
  const details = { cause: error };
  const tls = tlsProblem({ kind, code }, request);
  if (tls !== undefined) return new KubeError('SLW_KUBE_TLS', `${what}: ${tls}`, details);
  if (write && sent) {
    const text = `${what}: the request was sent to ${server} and no answer came (${why}). It may have been carried out: read the object before trying again`;
    return new KubeError('SLW_KUBE_OUTCOME_UNKNOWN', text, details);
  }
  if (!sent || kind === 'unreachable') {
    const text = `${what}: no connection to ${server} (${why}). Check that the API server runs and that the address in the kubeconfig is right`;
    return new KubeError('SLW_KUBE_UNREACHABLE', text, details);
  }
  if (kind === 'timeout') {
    return new KubeError('SLW_KUBE_TIMEOUT', `${what}: ${server} did not answer in time`, details);
  }
  return new KubeError('SLW_KUBE_UNREACHABLE', `${what}: the connection to ${server} broke (${why})`, details);
}

function tlsProblem({ kind, code }: Failure, { server, sent }: LostRequest): string | undefined {
  if (sent) return undefined;
  if (kind === 'untrusted') {
    return `the certificate of ${server} is not trusted (${code}). Put the CA that signed it into certificate-authority-data of the kubeconfig`;
  }
  if (kind === 'tls') {
    return `${server} does not speak TLS as expected (${code}). Check the address and the port in the kubeconfig`;
  }
  return undefined;
}
