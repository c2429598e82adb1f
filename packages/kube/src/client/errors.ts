import { CodedError, errorGuard } from '@slipway/base/coded-error';
import { classifyFailure, type Failure, parseRetryAfter } from '@slipway/base/http';

/** Every error code of this package and its meaning. docs/errors.md lists what to do about each. */
export const kubeErrors = {
  SLW_KUBE_CONFIG_MISSING: 'no kubeconfig was passed or found, and the process does not run in a pod',
  SLW_KUBE_CONFIG_INVALID: 'the kubeconfig is invalid',
  SLW_KUBE_CREDENTIALS: 'the credential plugin or token file returned no usable credentials',
  SLW_KUBE_UNREACHABLE: 'no connection to the API server',
  SLW_KUBE_TLS: 'the API server’s certificate is not trusted',
  SLW_KUBE_UNAUTHORIZED: 'the API server does not accept the credentials',
  SLW_KUBE_FORBIDDEN: 'the credentials do not permit the request',
  SLW_KUBE_NOT_FOUND: 'the object does not exist',
  SLW_KUBE_KIND_NOT_INSTALLED: 'the API server does not serve this kind',
  SLW_KUBE_ALREADY_EXISTS: 'an object with this name already exists',
  SLW_KUBE_CONFLICT: 'another client changed the object first',
  SLW_KUBE_GONE: 'the API server no longer has the requested history',
  SLW_KUBE_INVALID: 'the API server rejected the object',
  SLW_KUBE_BLOCKED: 'a PodDisruptionBudget currently forbids the eviction',
  SLW_KUBE_THROTTLED: 'the API server is overloaded and asked to retry later',
  SLW_KUBE_SERVER: 'the API server failed to process the request',
  SLW_KUBE_TIMEOUT: 'the API server did not respond in time',
  SLW_KUBE_OUTCOME_UNKNOWN: 'a write was sent and got no response; it may have taken effect',
  SLW_KUBE_BAD_ANSWER: 'the response does not follow the Kubernetes API',
  SLW_KUBE_NOT_LEADER: 'this process is not the leader, or no longer is',
  SLW_KUBE_NO_PRECONDITION: 'a write lacks the resourceVersion or UID that fencing requires',
  SLW_KUBE_NOT_OWNED: 'a controller tried to write an object that it does not declare in owns',
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

/** The `Status` object in the response to a failed request. */
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
  /** The decoded Status; undefined if the body was anything else. */
  body: Status | undefined;
  retryAfter: string | undefined;
  /** The request, e.g. `get Node worker-1`. */
  what: string;
  /** Whether the request may have changed something. */
  write: boolean;
}

/** Maps a response of the API server to an error. A pure decision: nothing is sent or awaited. */
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
  // The API never redirects: something else answered.
  if (status < 400) return 'SLW_KUBE_BAD_ANSWER';
  if (status < 500) return 'SLW_KUBE_INVALID';
  return write && !refusedUnread(status, body) ? 'SLW_KUBE_OUTCOME_UNKNOWN' : 'SLW_KUBE_SERVER';
}

/**
 * 500, 502 and 504 may follow a write that was stored. A 503 from the API server, recognised by its Status, means that
 * nothing was done. A 503 from a proxy may mean that the response got lost.
 */
const refusedUnread = (status: number, body: Status): boolean => status === 503 && body.reason !== undefined;

/** For HTTP statuses that are ambiguous without the Status. */
const codeByBody: Readonly<Record<number, (body: Status) => KubeErrorCode | undefined>> = {
  404: (body) => (body.details?.name === undefined ? 'SLW_KUBE_KIND_NOT_INSTALLED' : 'SLW_KUBE_NOT_FOUND'),
  409: (body) => (body.reason === 'AlreadyExists' ? 'SLW_KUBE_ALREADY_EXISTS' : undefined),
  // The server reports a UID mismatch in a patch as a change of an immutable field; in fact the precondition failed.
  422: (body) =>
    body.details?.causes?.some((cause) => cause.field === 'metadata.uid') ? 'SLW_KUBE_CONFLICT' : undefined,
  429: (body) => (hasCause(body, 'DisruptionBudget') ? 'SLW_KUBE_BLOCKED' : undefined),
  // After etcd is restored from a backup, the requested version may be one that the server has never had.
  504: (body) => (hasCause(body, 'ResourceVersionTooLarge') ? 'SLW_KUBE_GONE' : undefined),
};

const hasCause = (body: Status, reason: string): boolean =>
  body.details?.causes?.some((cause) => cause.reason === reason) === true;

const remediations: Partial<Record<KubeErrorCode, string>> = {
  SLW_KUBE_UNAUTHORIZED:
    'the API server does not accept the credentials. Log in again, or pass a kubeconfig with valid credentials',
  SLW_KUBE_KIND_NOT_INSTALLED: 'the API server does not serve this kind. Install the CRDs first: slipway install',
};

function explain(code: KubeErrorCode, answer: FailedResponse): string {
  const said = answer.body?.message ?? `HTTP ${answer.status}`;
  const way = remediations[code];
  return way === undefined ? said : `${way} (server message: ${said})`;
}

function retryAfterMs({ retryAfter, body }: FailedResponse): number | undefined {
  const { retryAfterSeconds } = body?.details ?? {};
  return (
    parseRetryAfter(retryAfter, Date.now()) ??
    parseRetryAfter(retryAfterSeconds === undefined ? undefined : String(retryAfterSeconds), 0)
  );
}

export interface LostRequest {
  what: string;
  server: string;
  write: boolean;
  /** Whether any bytes may have been sent: the connection was up and the request was being written. */
  sent: boolean;
}

/** Maps a request that got no response at all to an error. */
export function lostRequestError(error: unknown, request: LostRequest): KubeError {
  const { what, server, write, sent } = request;
  const { kind, code } = classifyFailure(error);
  const why = code || String(error);
  const details = { cause: error };
  const tls = tlsProblem({ kind, code }, request);
  if (tls !== undefined) return new KubeError('SLW_KUBE_TLS', `${what}: ${tls}`, details);
  if (write && sent) {
    const text = `${what}: the request was sent to ${server}, but no response arrived (${why}). The write may have taken effect: read the object before retrying`;
    return new KubeError('SLW_KUBE_OUTCOME_UNKNOWN', text, details);
  }
  if (!sent || kind === 'unreachable') {
    const text = `${what}: no connection to ${server} (${why}). Check that the API server is running and that the address in the kubeconfig is correct`;
    return new KubeError('SLW_KUBE_UNREACHABLE', text, details);
  }
  if (kind === 'timeout') {
    return new KubeError('SLW_KUBE_TIMEOUT', `${what}: ${server} did not respond in time`, details);
  }
  return new KubeError('SLW_KUBE_UNREACHABLE', `${what}: the connection to ${server} broke (${why})`, details);
}

function tlsProblem({ kind, code }: Failure, { server, sent }: LostRequest): string | undefined {
  if (sent) return undefined;
  if (kind === 'untrusted') {
    return `the certificate of ${server} is not trusted (${code}). Add the CA that signed it to certificate-authority-data of the kubeconfig`;
  }
  if (kind === 'tls') {
    return `${server} does not speak TLS as expected (${code}). Check the address and the port in the kubeconfig`;
  }
  return undefined;
}
