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

export class KubeError extends Error {
  readonly code: KubeErrorCode;
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: KubeErrorCode, message: string, details: KubeErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'KubeError';
    this.code = code;
    this.status = details.status;
    this.reason = details.reason;
    this.retryAfterMs = details.retryAfterMs;
  }
}

export const isKubeError = (error: unknown, ...codes: KubeErrorCode[]): error is KubeError =>
  error instanceof KubeError && (codes.length === 0 || codes.includes(error.code));
