import { encodeDataUrl } from '@slipway/ignition';
import type { ConfigOf } from '@slipway/ignition';

export interface StubRequest {
  /** Where machines find the server: `https://api-int.example.com:22623`. */
  server: string;
  pool: string;
  /** PEM: every CA that the server's certificate may come from. */
  caBundle: string;
  /** Left out where the server answers everybody. */
  token?: string | undefined;
}

/**
 * What a machine is started with: nothing but where to fetch its config, whom to believe, and the right to ask.
 * Spec 3.1.0 is the oldest that knows HTTP headers and compressed configs, so the oldest boot images that can use it do.
 */
export function stubOf({ server, pool, caBundle, token }: StubRequest): ConfigOf<'3.1.0'> {
  return {
    ignition: {
      version: '3.1.0',
      config: {
        merge: [
          {
            source: `${server.replace(/\/+$/, '')}/config/${encodeURIComponent(pool)}?compression=gzip`,
            compression: 'gzip',
            ...(token === undefined ? {} : { httpHeaders: [{ name: 'Authorization', value: `Bearer ${token}` }] }),
          },
        ],
      },
      security: {
        tls: { certificateAuthorities: [{ source: encodeDataUrl(new TextEncoder().encode(caBundle)) }] },
      },
    },
  };
}
