// What resolve asks of the outside: one GET. The library itself opens no connection.
import type { HostPolicy } from './address.ts';
import type { ProxySettings } from './proxy.ts';

export interface FetchRequest {
  /** Always http or https. */
  url: string;
  /** From the config. For the first request only: they may be credentials, so a redirect target must not see them. */
  headers: readonly { name: string; value: string }[];
  proxy: ProxySettings;
  /** PEM bundles to trust besides the system's own. */
  certificateAuthorities: readonly string[];
  /** `total` covers redirects and retries. */
  timeouts: { responseHeadersMs: number; totalMs: number };
  /** The fetcher stops reading after this many bytes. */
  maxBytes: number;
  maxRedirects: number;
  /** Holds for the URL, for every redirect, and for every address a name stands for. */
  hosts: HostPolicy;
  signal: AbortSignal;
}

export type Fetched = { ok: true; bytes: Uint8Array } | { ok: false; problem: string };

/** Expected failures (refused, not found, too large, too slow) are values; only a bug rejects. */
export type Fetcher = (request: FetchRequest) => Promise<Fetched>;
