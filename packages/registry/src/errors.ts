import { CodedError, errorGuard } from '@slipway/base/coded-error';

/** Every error code of this package and its meaning. docs/errors.md documents the remediation. */
export const registryErrors = {
  SLW_REGISTRY_REFERENCE: 'the image reference is invalid',
  SLW_REGISTRY_PULL_SECRET: 'the pull secret is invalid',
  SLW_REGISTRY_MIRRORS: 'the mirror configuration is invalid',
  SLW_REGISTRY_OPTIONS: 'an option of the registry client is invalid',
  SLW_REGISTRY_BLOCKED: 'the mirror rules allow no source for the image',
  SLW_REGISTRY_UNREACHABLE: 'the registry cannot be reached',
  SLW_REGISTRY_TLS: 'the certificate of the registry is not trusted, or the registry does not use TLS',
  SLW_REGISTRY_SILENT: 'the registry did not respond in time',
  SLW_REGISTRY_CUT: 'the connection closed before the response was complete',
  SLW_REGISTRY_UNAUTHORIZED: 'the registry rejects the credentials, or requires some',
  SLW_REGISTRY_NOT_FOUND: 'the registry does not have the image, or hides it from this login',
  SLW_REGISTRY_THROTTLED: 'the registry is rate limiting requests',
  SLW_REGISTRY_SERVER: 'the registry returned a server error',
  SLW_REGISTRY_ANSWER: 'the response violates the registry protocol',
  SLW_REGISTRY_REDIRECT: 'the registry redirects to an address that is not allowed',
  SLW_REGISTRY_DIGEST: 'the content does not match its digest',
  SLW_REGISTRY_PLATFORM: 'the image is not available for the platform',
  SLW_REGISTRY_LIMIT: 'the content exceeds a size limit',
  SLW_REGISTRY_LAYER: 'a layer of the image cannot be unpacked',
  SLW_REGISTRY_FILE: 'the path in the image is not a readable file',
  SLW_REGISTRY_CLOSED: 'the registry client was closed',
} as const;

export type RegistryErrorCode = keyof typeof registryErrors;

export interface RegistryRequest {
  /** The image, as the user wrote it. */
  readonly reference: string;
  /** `manifest`, `config sha256:…`, `layer sha256:…`, `token`. */
  readonly what: string;
  /** The registry, a mirror, a token server, or a redirect target. Never a URL, which can contain a signature. */
  readonly host: string;
}

export interface RegistryErrorDetails {
  readonly asked?: RegistryRequest | undefined;
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  /** One per source that was tried. */
  readonly failures?: readonly RegistryError[] | undefined;
  readonly cause?: unknown;
}

/** Transient failures, worth a retry. */
const passing: ReadonlySet<RegistryErrorCode> = new Set<RegistryErrorCode>([
  'SLW_REGISTRY_UNREACHABLE',
  'SLW_REGISTRY_SILENT',
  'SLW_REGISTRY_CUT',
  'SLW_REGISTRY_THROTTLED',
  'SLW_REGISTRY_SERVER',
]);

export class RegistryError extends CodedError<RegistryErrorCode> {
  override readonly name = 'RegistryError';
  /** The message without the request. */
  readonly text: string;
  readonly asked: RegistryRequest | undefined;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly failures: readonly RegistryError[];

  constructor(code: RegistryErrorCode, text: string, details: RegistryErrorDetails = {}) {
    const { asked, cause } = details;
    const about = asked === undefined ? '' : `${asked.reference}: ${asked.what} from ${asked.host}: `;
    super(code, `${about}${text}`, { cause });
    this.text = text;
    this.asked = asked;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.failures = details.failures ?? [];
  }

  /** The host that caused the error. */
  get host(): string | undefined {
    return this.asked?.host;
  }

  /** Whether a retry may succeed. */
  get passing(): boolean {
    return passing.has(this.code);
  }
}

export const isRegistryError = errorGuard(RegistryError);
