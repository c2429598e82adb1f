// Limits of one resolve. Everything it reads is untrusted, so everything is bounded.

export interface ResolveLimits {
  /** Bytes of one fetched body, and of one body unpacked. */
  singleBytes: number;
  /** Bytes of everything fetched and unpacked. */
  totalBytes: number;
  /** Fetches, not counting the same URL again. */
  count: number;
  /** Configs merged or replaced, from any source. */
  configs: number;
  /** Nesting of configs that reference configs. The real client has no limit. */
  depth: number;
  redirects: number;
  /** For the whole resolve. */
  timeMs: number;
  /** Unpacked bytes per packed byte, above 1 MiB. */
  ratio: number;
  /** Concurrent fetches. */
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

/** The remaining budget while a resolve runs. */
export class Budget {
  readonly limits: ResolveLimits;
  #count = 0;
  #configs = 0;
  #bytes = 0;

  constructor(limits: ResolveLimits) {
    this.limits = limits;
  }

  /** Maximum size of the next body. */
  get nextBytes(): number {
    return Math.max(0, Math.min(this.limits.singleBytes, this.limits.totalBytes - this.#bytes));
  }

  /** Null, or why one more fetch exceeds the limit. */
  takeFetch(): string | null {
    this.#count += 1;
    return this.#count > this.limits.count ? `the limit of ${this.limits.count} fetches is reached` : null;
  }

  /** Null, or why one more config exceeds the limit. */
  takeConfig(): string | null {
    this.#configs += 1;
    return this.#configs > this.limits.configs ? `the limit of ${this.limits.configs} configs is reached` : null;
  }

  /** Null, or why these bytes exceed a limit. */
  takeBytes(bytes: number): string | null {
    this.#bytes += bytes;
    if (bytes > this.limits.singleBytes) return `it is larger than the limit of ${this.limits.singleBytes} bytes`;
    if (this.#bytes > this.limits.totalBytes) {
      return `with it, the fetched contents exceed the total limit of ${this.limits.totalBytes} bytes`;
    }
    return null;
  }
}
