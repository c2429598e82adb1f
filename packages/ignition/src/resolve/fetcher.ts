// The only external function that resolve needs: one GET. The library opens no connection.
import type { AnyConfig } from '../spec/index.ts';
import type { HostPolicy } from './address.ts';
import type { ProxySettings } from './proxy.ts';

export interface FetchRequest {
  /** Always http or https. */
  url: string;
  /** From the config. Sent only with the first request: they may be credentials, not for redirect targets. */
  headers: readonly { name: string; value: string }[];
  proxy: ProxySettings;
  /** PEM bundles to trust in addition to the system's. */
  certificateAuthorities: readonly string[];
  /** `total` covers redirects and retries. */
  timeouts: { responseHeadersMs: number; totalMs: number };
  /** The fetcher stops reading after this many bytes. */
  maxBytes: number;
  maxRedirects: number;
  /** Applies to the URL, to every redirect, and to every address a name resolves to. */
  hosts: HostPolicy;
  signal: AbortSignal;
}

export type Fetched = { ok: true; bytes: Uint8Array } | { ok: false; problem: string };

/** Expected failures (refused, not found, too large, too slow) are values; only a bug rejects. */
export type Fetcher = (request: FetchRequest) => Promise<Fetched>;

// How the contents of a config are fetched: its own settings on top of those of the configs around it.

export interface FetchSettings {
  proxy: ProxySettings;
  /** PEM bundles. */
  certificateAuthorities: readonly string[];
  /** Null: no limit but that of the resolve. */
  timeouts: { responseHeadersMs: number | null; totalMs: number | null };
}

const DEFAULT_RESPONSE_HEADERS_SECONDS = 10;

export const NO_SETTINGS: FetchSettings = {
  proxy: {},
  certificateAuthorities: [],
  timeouts: { responseHeadersMs: DEFAULT_RESPONSE_HEADERS_SECONDS * 1000, totalMs: null },
};

/** Applies the config's proxy and timeouts. Authorities stay unchanged: the config's may have to be fetched first. */
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

/** In a config, 0 seconds means no limit. */
function milliseconds(seconds: number): number | null {
  return seconds <= 0 ? null : seconds * 1000;
}
