// What resolve asks of the outside: one GET. The library itself opens no connection.
import type { AnyConfig } from '../spec/index.ts';
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

// How the fetches of a config are made: what the config itself says about it, on top of the configs around it.

export interface FetchSettings {
  proxy: ProxySettings;
  /** PEM bundles. */
  certificateAuthorities: readonly string[];
  /** Null: no bound but the resolve's own. */
  timeouts: { responseHeadersMs: number | null; totalMs: number | null };
}

const DEFAULT_RESPONSE_HEADERS_SECONDS = 10;

export const NO_SETTINGS: FetchSettings = {
  proxy: {},
  certificateAuthorities: [],
  timeouts: { responseHeadersMs: DEFAULT_RESPONSE_HEADERS_SECONDS * 1000, totalMs: null },
};

/** Proxy and timeouts as the config says; authorities as they were, because the config's own may have to be fetched first. */
export function readFetchSettings(config: AnyConfig, before: FetchSettings): FetchSettings {
  const { timeouts } = config.ignition;
  return {
    proxy: 'proxy' in config.ignition ? (config.ignition.proxy ?? {}) : {},
    certificateAuthorities: before.certificateAuthorities,
    timeouts: {
      responseHeadersMs: milliseconds(timeouts?.httpResponseHeaders ?? DEFAULT_RESPONSE_HEADERS_SECONDS),
      totalMs: milliseconds(timeouts?.httpTotal ?? 0),
    },
  };
}

/** In a config, 0 seconds means for ever. */
function milliseconds(seconds: number): number | null {
  return seconds <= 0 ? null : seconds * 1000;
}
