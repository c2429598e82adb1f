// What one resolve may use up. Everything it reads comes from outside, so everything has a bound.

export interface ResolveLimits {
  /** Bytes of one fetched body, and of one body unpacked. */
  singleBytes: number;
  /** Bytes of everything fetched and unpacked. */
  totalBytes: number;
  /** Fetches, not counting the same URL again. */
  count: number;
  /** Configs merged or put in place, wherever they come from. */
  configs: number;
  /** Configs that name configs that name configs. The real client has no bound. */
  depth: number;
  redirects: number;
  /** For everything together. */
  timeMs: number;
  /** Unpacked bytes for one packed byte, above 1 MiB. */
  ratio: number;
  /** Fetches at the same time. */
  parallel: number;
}

const MEBIBYTE = 1024 * 1024;

export const DEFAULT_LIMITS: ResolveLimits = {
  singleBytes: 16 * MEBIBYTE,
  totalBytes: 64 * MEBIBYTE,
  count: 500,
  configs: 100,
  depth: 8,
  redirects: 5,
  timeMs: 5 * 60 * 1000,
  ratio: 200,
  parallel: 8,
};

/** What is left of the limits while a resolve runs. */
export class Budget {
  readonly limits: ResolveLimits;
  #count = 0;
  #configs = 0;
  #bytes = 0;

  constructor(limits: ResolveLimits) {
    this.limits = limits;
  }

  /** Bytes the next body may have. */
  get nextBytes(): number {
    return Math.max(0, Math.min(this.limits.singleBytes, this.limits.totalBytes - this.#bytes));
  }

  /** Null, or why one more fetch is too many. */
  takeFetch(): string | null {
    this.#count += 1;
    return this.#count > this.limits.count ? `the limit of ${this.limits.count} fetches is used up` : null;
  }

  /** Null, or why one more config is too many. */
  takeConfig(): string | null {
    this.#configs += 1;
    return this.#configs > this.limits.configs ? `the limit of ${this.limits.configs} configs is used up` : null;
  }

  /** Null, or why these bytes are too many. */
  takeBytes(bytes: number): string | null {
    this.#bytes += bytes;
    if (bytes > this.limits.singleBytes) return `it is larger than the limit of ${this.limits.singleBytes} bytes`;
    if (this.#bytes > this.limits.totalBytes) {
      return `with it, all fetched contents are larger than the limit of ${this.limits.totalBytes} bytes`;
    }
    return null;
  }
}
