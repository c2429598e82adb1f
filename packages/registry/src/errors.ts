import { CodedError, errorGuard } from '@slipway/base/coded-error';

/** Every code this package raises, with what it means. docs/errors.md says what to do about each. */
export const registryErrors = {
  SLW_REGISTRY_REFERENCE: 'the text does not name an image',
  SLW_REGISTRY_PULL_SECRET: 'the pull secret cannot be used as it is',
  SLW_REGISTRY_MIRRORS: 'what says where the mirrors are cannot be used as it is',
  SLW_REGISTRY_OPTIONS: 'the registry client was given something that it cannot work with',
  SLW_REGISTRY_BLOCKED: 'the rules of the mirrors leave no place to ask',
  SLW_REGISTRY_UNREACHABLE: 'no connection to the registry',
  SLW_REGISTRY_TLS: 'the registry’s certificate is not trusted, or it does not speak TLS',
  SLW_REGISTRY_SILENT: 'the registry said nothing for too long, or took too long in all',
  SLW_REGISTRY_CUT: 'the connection ended in the middle of an answer',
  SLW_REGISTRY_UNAUTHORIZED: 'the registry does not accept the credentials, or wants some',
  SLW_REGISTRY_NOT_FOUND: 'the registry has no such image, or does not show it',
  SLW_REGISTRY_THROTTLED: 'the registry takes no more requests for now',
  SLW_REGISTRY_SERVER: 'the registry failed to answer',
  SLW_REGISTRY_ANSWER: 'the answer is not what a registry promises',
  SLW_REGISTRY_REDIRECT: 'the registry sends us somewhere that we do not go',
  SLW_REGISTRY_DIGEST: 'the bytes are not those that the digest names',
  SLW_REGISTRY_PLATFORM: 'the image is not there for the platform',
  SLW_REGISTRY_LIMIT: 'something is larger than is read from a registry',
  SLW_REGISTRY_LAYER: 'a layer of the image cannot be unpacked',
  SLW_REGISTRY_FILE: 'what stands at the path in the image cannot be read as a file',
  SLW_REGISTRY_CLOSED: 'the registry client was closed',
} as const;

export type RegistryErrorCode = keyof typeof registryErrors;

/** Whom we asked for what. */
export interface RegistryRequest {
  /** The image, as the user named it. */
  readonly reference: string;
  /** `manifest`, `config sha256:…`, `layer sha256:…`, `token`. */
  readonly what: string;
  /** Who was asked: the registry, a mirror, a token server, or where one of them sent us. Never a whole URL: they carry signatures. */
  readonly host: string;
}

export interface RegistryErrorDetails {
  readonly asked?: RegistryRequest | undefined;
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  /** One for each place that was asked. */
  readonly failures?: readonly RegistryError[] | undefined;
  readonly cause?: unknown;
}

/** Failures that may pass by themselves: worth another try. */
const passing: ReadonlySet<RegistryErrorCode> = new Set<RegistryErrorCode>([
  'SLW_REGISTRY_UNREACHABLE',
  'SLW_REGISTRY_SILENT',
  'SLW_REGISTRY_CUT',
  'SLW_REGISTRY_THROTTLED',
  'SLW_REGISTRY_SERVER',
]);

export class RegistryError extends CodedError<RegistryErrorCode> {
  override readonly name = 'RegistryError';
  /** The message without whom it is about. */
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

  /** Who gave no answer, or this one. */
  get host(): string | undefined {
    return this.asked?.host;
  }

  /** Whether the same may succeed later with nothing changed here. */
  get passing(): boolean {
    return passing.has(this.code);
  }
}

export const isRegistryError = errorGuard(RegistryError);
